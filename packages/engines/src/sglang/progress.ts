import type { LoadProgress } from "../adapter.ts";
import { type LoadStage, stageProgress } from "../launch/stage-progress.ts";

/** Milestones of a start as SGLang 0.5 logs them, latest first. The ratios are rough: most of a start is reading weights. */
const stages: readonly LoadStage[] = [
  [/The server is fired up and ready to roll/, () => ({ ratio: 1, message: "started" })],
  [/Uvicorn running on/, () => ({ ratio: 0.97, message: "opening its port" })],
  [/max_total_num_tokens=(\d+)/, (match) => ({ ratio: 0.95, message: `KV cache of ${match[1]} tokens` })],
  [/Capture cuda graph end/i, () => ({ ratio: 0.92, message: "CUDA graphs captured" })],
  [/Capture cuda graph begin|Capturing batches/i, () => ({ ratio: 0.85, message: "capturing CUDA graphs" })],
  [/KV Cache is allocated/i, () => ({ ratio: 0.8, message: "KV cache allocated" })],
  [/Load weight end/, () => ({ ratio: 0.7, message: "weights loaded" })],
  [
    /Loading \w+ checkpoint shards:\s*(\d+)% Completed\s*\|\s*(\d+)\/(\d+)/i,
    (match) => ({ ratio: 0.1 + (0.6 * Number(match[1])) / 100, message: `loading weights ${match[2]}/${match[3]}` }),
  ],
  [/Load weight begin/, () => ({ ratio: 0.1, message: "loading weights" })],
  [/Init torch distributed ends/, () => ({ ratio: 0.08, message: "its processes have found each other" })],
  [/Init torch distributed begin/, () => ({ ratio: 0.04, message: "waiting for its other processes" })],
  [/server_args=/, () => ({ ratio: 0.02, message: "reading its settings" })],
  [/(?:Downloading|Fetching) .*?(\d+)%/, (match) => ({ ratio: null, message: `downloading the model ${match[1]} %` })],
];

/** What a line of SGLang's log says about its start, or null. */
export function sglangProgress(line: string): LoadProgress | null {
  return stageProgress(line, stages);
}
