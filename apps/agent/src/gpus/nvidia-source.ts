import type { GpuFacts, GpuFault } from "@llmgw/domain";
import type { Clock } from "@llmgw/service";
import type { GpuLook, GpuSource } from "./gpu-source.ts";
import { coreFields, inventoryFields, isSameBusId, parseComputeApps, parseInventory } from "./parse-nvidia-smi.ts";
import { runTool, type ToolOutcome } from "./run-tool.ts";

export interface NvidiaSourceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly killAfterMs: number;
  readonly shardOfPid: (pid: number) => string | null;
}

const csv = "--format=csv,noheader,nounits";
const lastingChars = 300;

/**
 * The GPUs that nvidia-smi lists. Without the tool the node has no GPU. A GPU that the tool calls lost keeps its UUID and
 * gets that line as a fault; all GPUs failing at once is a failure of the probe, and no GPU's.
 */
export function nvidiaSource(options: NvidiaSourceOptions): GpuSource {
  /** GPUs by UUID as last seen well: what a lost one is recognised by. */
  const known = new Map<string, GpuFacts>();
  let fields: readonly string[] = inventoryFields;
  let stuck: { pid: number; sinceMs: number } | null = null;

  const run = async (args: readonly string[]): Promise<ToolOutcome> => {
    const outcome = await runTool({ program: "nvidia-smi", args, ...options });
    if (outcome.kind === "stuck") {
      stuck = { pid: outcome.pid, sinceMs: options.clock.monotonicMs() };
      void outcome.gone.then(() => {
        stuck = null;
      });
    }
    return outcome;
  };

  const look = async (): Promise<GpuLook> => {
    // At most one probe ever: while one is stuck in the driver, another would only join it.
    if (stuck !== null) {
      const seconds = Math.round((options.clock.monotonicMs() - stuck.sinceMs) / 1000);
      return { kind: "failed", problem: `nvidia-smi is stuck (pid ${stuck.pid}, ${seconds} s): the driver hangs` };
    }
    const outcome = await run([`--query-gpu=${fields.join(",")}`, csv]);
    switch (outcome.kind) {
      case "absent":
        return { kind: "seen", gpus: [], warning: null };
      case "timeout":
      case "stuck":
        return { kind: "failed", problem: `nvidia-smi (pid ${outcome.pid}) did not answer in ${options.timeoutMs} ms` };
      case "ended":
        break;
    }
    const text = `${outcome.stdout}\n${outcome.stderr}`;
    if (/is not a valid field to query/.test(text) && fields.length > coreFields.length) {
      fields = coreFields;
      return await look();
    }
    const parsed = parseInventory(text);
    const messages = parsed.messages.join(" / ").slice(0, lastingChars);
    const isEmpty = parsed.gpus.length === 0 && parsed.lost.length === 0;
    if (isEmpty && (outcome.code !== 0 || messages !== "" || known.size > 0)) {
      return {
        kind: "failed",
        problem: messages === "" ? `nvidia-smi lists nothing (exit code ${outcome.code})` : messages,
      };
    }
    const present = new Set(parsed.gpus.map((gpu) => gpu.uuid));
    const lost = [...known.values()].flatMap((gpu) => {
      const line = parsed.lost.find(({ busId }) => gpu.pciBusId !== null && isSameBusId(busId, gpu.pciBusId));
      return line === undefined || present.has(gpu.uuid) ? [] : [asLost(gpu, line.evidence)];
    });
    const processes = parseComputeApps(await computeApps(run));
    const gpus = [...parsed.gpus, ...lost].map((gpu) => ({
      ...gpu,
      processes: processes
        .filter(({ gpuUuid }) => gpuUuid === gpu.uuid)
        .map(({ pid, usedMib }) => ({ pid, usedMib, shard: options.shardOfPid(pid) })),
    }));
    for (const gpu of parsed.gpus) known.set(gpu.uuid, gpu);
    return { kind: "seen", gpus, warning: messages === "" ? null : messages };
  };
  return { simulated: false, look };
}

/** Best effort: whose memory it is helps to explain, the inventory stands without it. */
async function computeApps(run: (args: readonly string[]) => Promise<ToolOutcome>): Promise<string> {
  const outcome = await run(["--query-compute-apps=pid,gpu_uuid,used_memory", csv]);
  return outcome.kind === "ended" ? outcome.stdout : "";
}

function asLost(gpu: GpuFacts, evidence: string): GpuFacts {
  const fault: GpuFault = { kind: "lost", evidence };
  return {
    ...gpu,
    totalMib: "unreadable",
    usedMib: "unreadable",
    temperatureC: "unreadable",
    utilizationRatio: "unreadable",
    eccUncorrected: "unreadable",
    migMode: "unreadable",
    faults: [fault],
    processes: [],
  };
}
