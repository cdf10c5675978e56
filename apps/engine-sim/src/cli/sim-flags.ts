import type { LatencySettings } from "../core/latency.ts";
import { type Fault, parseFault } from "../faults/fault.ts";
import type { FlagValues } from "./flag-values.ts";
import type { FlagSpec } from "./parse-flags.ts";

/** What is simulated, the same for every dialect. Milliseconds are engine time unless a name says otherwise. */
export interface SimSettings {
  readonly loadMs: number;
  readonly latency: LatencySettings;
  readonly seed: number;
  /** KV cache capacity; undefined: the dialect chooses one that fits its context length. */
  readonly kvTokens: number | undefined;
  readonly clockFactor: number;
  readonly claim:
    | { readonly directory: string; readonly gpuUuids: readonly string[]; readonly mibPerGpu: number }
    | undefined;
  readonly faults: readonly Fault[];
  readonly controlPort: number | undefined;
}

export const SIM_FLAGS: readonly FlagSpec[] = [
  { name: "--sim-load-ms", kind: "float" },
  { name: "--sim-ttft-ms", kind: "float" },
  { name: "--sim-prefill-ms-per-token", kind: "float" },
  { name: "--sim-itl-ms", kind: "float" },
  { name: "--sim-jitter", kind: "float" },
  { name: "--sim-load-factor", kind: "float" },
  { name: "--sim-seed", kind: "int" },
  { name: "--sim-kv-tokens", kind: "human-int" },
  { name: "--sim-clock-factor", kind: "float" },
  { name: "--sim-claims-dir", kind: "string" },
  { name: "--sim-gpus", kind: "string" },
  { name: "--sim-vram-mib", kind: "int" },
  { name: "--sim-fail", kind: "repeat" },
  { name: "--sim-control-port", kind: "int" },
];

export const SIM_HELP: readonly (readonly [string, string])[] = [
  ["--sim-load-ms MS", "time from start to ready (3000)"],
  ["--sim-ttft-ms MS", "fixed part of the time to the first token (100)"],
  ["--sim-prefill-ms-per-token MS", "further time per prompt token not in the prefix cache (0.05)"],
  ["--sim-itl-ms MS", "time between tokens of a lone sequence (30)"],
  ["--sim-jitter RATIO", "standard deviation of all these times, 0 to 0.3 (0.1)"],
  ["--sim-load-factor N", "how many times slower a full batch is than a lone sequence (2)"],
  ["--sim-seed N", "seed of everything random (1)"],
  ["--sim-kv-tokens N", "KV cache capacity in tokens (262144, or twice the context length if that is more)"],
  ["--sim-clock-factor N", "engine time runs N times as fast as real time (1)"],
  ["--sim-claims-dir DIR", "write this engine's GPU memory to DIR/<pid>.json, removed at exit"],
  ["--sim-gpus UUID[,UUID...]", "the GPUs of that claim"],
  ["--sim-vram-mib MIB", "memory held on each of them"],
  ["--sim-fail FAULT", "show a fault; may be given several times, also LLMGW_SIM_FAIL (comma separated)"],
  ["--sim-control-port PORT", "on 127.0.0.1: GET and POST /sim/config, POST /sim/crash (0: any free port)"],
];

export type SimSettingsOutcome =
  | { readonly kind: "settings"; readonly settings: SimSettings }
  | { readonly kind: "invalid"; readonly message: string };

/** @param faultsFromEnv value of LLMGW_SIM_FAIL: faults separated by commas */
export function readSimSettings(flags: FlagValues, faultsFromEnv: string | undefined): SimSettingsOutcome {
  const problems: string[] = [];
  const atLeast = (name: string, fallback: number, least: number): number => {
    const value = flags.number(name) ?? fallback;
    if (value < least) {
      problems.push(`argument ${name}: ${value} is too small, expected at least ${least}`);
    }
    return value;
  };
  const latency: LatencySettings = {
    ttftMs: atLeast("--sim-ttft-ms", 100, 0),
    prefillMsPerToken: atLeast("--sim-prefill-ms-per-token", 0.05, 0),
    itlMs: atLeast("--sim-itl-ms", 30, 0),
    jitter: atLeast("--sim-jitter", 0.1, 0),
    loadFactor: atLeast("--sim-load-factor", 2, 1),
  };
  if (latency.jitter > 0.3) {
    problems.push(`argument --sim-jitter: ${latency.jitter} is too large, expected at most 0.3`);
  }
  const clockFactor = flags.number("--sim-clock-factor") ?? 1;
  if (clockFactor <= 0) {
    problems.push(`argument --sim-clock-factor: ${clockFactor} is not above 0`);
  }
  const faults: Fault[] = [];
  for (const text of [...splitList(faultsFromEnv), ...(flags.list("--sim-fail") ?? [])]) {
    const parsed = parseFault(text);
    if (parsed.kind === "invalid") {
      problems.push(`argument --sim-fail: ${parsed.message}`);
    } else {
      faults.push(parsed.fault);
    }
  }
  const settings: SimSettings = {
    loadMs: atLeast("--sim-load-ms", 3000, 0),
    latency,
    seed: flags.number("--sim-seed") ?? 1,
    kvTokens: flags.number("--sim-kv-tokens"),
    clockFactor,
    claim: readClaim(flags, problems),
    faults,
    controlPort: flags.number("--sim-control-port"),
  };
  const [problem] = problems;
  return problem === undefined ? { kind: "settings", settings } : { kind: "invalid", message: problem };
}

function readClaim(flags: FlagValues, problems: string[]): SimSettings["claim"] {
  const directory = flags.string("--sim-claims-dir");
  if (directory === undefined) {
    return undefined;
  }
  const gpuUuids = splitList(flags.string("--sim-gpus"));
  const mibPerGpu = flags.number("--sim-vram-mib");
  if (gpuUuids.length === 0 || mibPerGpu === undefined) {
    problems.push("argument --sim-claims-dir: needs --sim-gpus and --sim-vram-mib, which say what to claim");
  }
  return { directory, gpuUuids, mibPerGpu: mibPerGpu ?? 0 };
}

function splitList(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
