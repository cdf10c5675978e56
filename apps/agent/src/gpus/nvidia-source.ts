import type { GpuFacts, GpuFault } from "@llmgw/domain";
import type { Clock } from "@llmgw/service";
import type { GpuLook, GpuSource } from "./gpu-source.ts";
import type { KernelLog } from "./kernel-log.ts";
import {
  coreFields,
  fieldsOf,
  isSameBusId,
  type ParsedInventory,
  parseComputeApps,
  parseInventory,
} from "./parse-nvidia-smi.ts";
import { parseNvidiaXml } from "./parse-nvidia-xml.ts";
import { runTool, type ToolOutcome } from "./run-tool.ts";

export interface NvidiaSourceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly killAfterMs: number;
  readonly shardOfPid: (pid: number) => string | null;
  /** Where Xids are read; null where none can be. */
  readonly kernelLog: KernelLog | null;
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
  /** Asked once; null until then. */
  let fields: readonly string[] | null = null;
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

  const stuckLook = ({ pid, sinceMs }: { pid: number; sinceMs: number }): GpuLook => {
    const seconds = Math.round((options.clock.monotonicMs() - sinceMs) / 1000);
    return { kind: "failed", problem: `nvidia-smi is stuck (pid ${pid}, ${seconds} s): the driver hangs` };
  };

  const look = async (): Promise<GpuLook> => {
    // At most one probe ever: while one is stuck in the driver, another would only join it.
    if (stuck !== null) return stuckLook(stuck);
    options.kernelLog?.read();
    fields ??= await askFields(run);
    const asked = fields;
    if (stuck !== null) return stuckLook(stuck);
    const outcome = await run([`--query-gpu=${asked.join(",")}`, csv]);
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
    if (/is not a valid field to query/.test(text) && asked.length > coreFields.length) {
      fields = coreFields;
      return await look();
    }
    const parsed = await withXml(parseInventory(text, asked), run);
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
      faults: [...gpu.faults, ...(options.kernelLog?.faultsOf(gpu.pciBusId) ?? [])],
    }));
    for (const gpu of parsed.gpus) known.set(gpu.uuid, gpu);
    return { kind: "seen", gpus, warning: messages === "" ? null : messages };
  };
  return { simulated: false, look };
}

type Run = (args: readonly string[]) => Promise<ToolOutcome>;

async function askFields(run: Run): Promise<readonly string[]> {
  const outcome = await run(["--help-query-gpu"]);
  return fieldsOf(outcome.kind === "ended" ? outcome.stdout : "");
}

/** The XML report has the same facts, for a tool whose query answers with no row at all and no word of why. */
async function withXml(parsed: ParsedInventory, run: Run): Promise<ParsedInventory> {
  if (parsed.gpus.length > 0 || parsed.lost.length > 0 || parsed.messages.length === 0) return parsed;
  if (parsed.messages.some((line) => /driver|NVML|no devices|unable to determine/i.test(line))) return parsed;
  const outcome = await run(["-q", "-x"]);
  const gpus = outcome.kind === "ended" && outcome.code === 0 ? parseNvidiaXml(outcome.stdout) : [];
  return gpus.length === 0 ? parsed : { gpus, lost: [], messages: [] };
}

/** Best effort: whose memory it is helps to explain, the inventory stands without it. */
async function computeApps(run: Run): Promise<string> {
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
