import type { LoadProgress } from "../adapter.ts";
import { type LoadStage, stageProgress } from "../launch/stage-progress.ts";

const weightsStart = 0.1;
const weightsShare = 0.6;

/**
 * Milestones of a start, as vLLM 0.19 logs them, latest first. The ratios are rough: reading the weights takes most of
 * a start, then profiling the KV cache and capturing graphs.
 */
const stages: readonly LoadStage[] = [
  [/Application startup complete/, () => ({ ratio: 1, message: "started" })],
  [/Available routes are:/, () => ({ ratio: 0.97, message: "opening its port" })],
  [/init engine .*took/, () => ({ ratio: 0.95, message: "engine initialised" })],
  [/Graph capturing finished/, () => ({ ratio: 0.92, message: "CUDA graphs captured" })],
  [/Capturing CUDA graphs?/i, () => ({ ratio: 0.85, message: "capturing CUDA graphs" })],
  [/GPU KV cache size: ([\d,]+) tokens/, (match) => ({ ratio: 0.82, message: `KV cache of ${match[1]} tokens` })],
  [/Available KV cache memory/, () => ({ ratio: 0.8, message: "sizing the KV cache" })],
  [/Model loading took/, () => ({ ratio: 0.75, message: "weights are on the GPU" })],
  [/Loading weights took/, () => ({ ratio: weightsStart + weightsShare, message: "weights loaded" })],
  [
    /Loading (?:safetensors|pt|gguf|\w+) checkpoint shards:\s*(\d+)% Completed\s*\|\s*(\d+)\/(\d+)/i,
    (match) => ({
      ratio: weightsStart + (weightsShare * Number(match[1])) / 100,
      message: `loading weights ${match[2]}/${match[3]}`,
    }),
  ],
  [/Starting to load model/, () => ({ ratio: weightsStart, message: "loading weights" })],
  [/Resolved architecture: (\w+)/, (match) => ({ ratio: 0.05, message: `architecture ${match[1]}` })],
  [/non-default args:/, () => ({ ratio: 0.02, message: "reading its settings" })],
  [/(?:Downloading|Fetching) .*?(\d+)%/, (match) => ({ ratio: null, message: `downloading the model ${match[1]} %` })],
];

/** What a line of vLLM's log says about its start, or null. */
export function vllmProgress(line: string): LoadProgress | null {
  return stageProgress(line, stages);
}
