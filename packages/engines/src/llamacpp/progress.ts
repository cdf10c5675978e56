import type { LoadProgress } from "../adapter.ts";
import { type LoadStage, stageProgress } from "../launch/stage-progress.ts";

/** Milestones of llama-server's and its RPC workers' start, latest first. A load says little: most of it is silent. */
const stages: readonly LoadStage[] = [
  [/(?:server is )?listening on http/, () => ({ ratio: 1, message: "started" })],
  [/model loaded/, () => ({ ratio: 0.97, message: "model loaded" })],
  [/initializing(?: slots)?, n_slots = (\d+)/, (match) => ({ ratio: 0.9, message: `making ${match[1]} slots` })],
  [/threadpool init/, () => ({ ratio: 0.8, message: "weights loaded" })],
  [/llama_kv_cache(?:_unified)?:/, () => ({ ratio: 0.75, message: "allocating the KV cache" })],
  [/load_tensors: offloaded (\d+)\/(\d+) layers/, (match) => ({ ratio: 0.5, message: `${match[1]} layers on GPUs` })],
  [/load_tensors:/, () => ({ ratio: 0.3, message: "loading weights" })],
  [/loading model/, () => ({ ratio: 0.1, message: "loading the model" })],
  [/Starting RPC server v(\S+)/, (match) => ({ ratio: 1, message: `RPC worker ${match[1]} listens` })],
  [/(?:download|curl).*?(\d+)\s?%/i, (match) => ({ ratio: null, message: `downloading the model ${match[1]} %` })],
];

/** What a line of llama.cpp's log says about its start, or null. */
export function llamacppProgress(line: string): LoadProgress | null {
  return stageProgress(line, stages);
}
