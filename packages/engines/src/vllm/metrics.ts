/** What an engine says of its own load. A number it does not give, or gives as nonsense, is null: unknown is never 0. */
export interface EngineMetrics {
  /** Requests in execution, summed over the engine's ranks. */
  readonly running: number | null;
  /** Requests that wait for a place in a batch, summed over the ranks. */
  readonly waiting: number | null;
  /** Share of the KV cache in use, 0..1; the fullest rank's. */
  readonly kvUsageRatio: number | null;
}

const RUNNING = ["num_requests_running"];
const WAITING = ["num_requests_waiting"];
const WAITING_BY_REASON = ["num_requests_waiting_by_reason"];
/** Newest name first: `gpu_cache_usage_perc` was renamed in vLLM 0.9. Both are fractions in spite of their names. */
const KV_USAGE = ["kv_cache_usage_perc", "gpu_cache_usage_perc"];

/** name{labels} value [timestamp], where a label's value may hold any character but a bare quote. */
const SAMPLE = /^(?:vllm[:_])(\w+)(\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?[ \t]+(\S+)(?:[ \t]+\S+)?[ \t]*$/;

type Samples = ReadonlyMap<string, readonly Sample[]>;
interface Sample {
  readonly labels: string;
  readonly value: number | null;
}

/**
 * Reads vLLM's Prometheus text (vllm/v1/metrics/loggers.py; names of all versions since 0.6, with `:` or Ray's `_` after
 * `vllm`). Answers null if it holds none of the wanted families, as another page or a server without statistics does.
 */
export function parseVllmMetrics(text: string): EngineMetrics | null {
  const samples = readSamples(text);
  const running = first(samples, RUNNING);
  // Requests deferred for another reason than capacity say nothing about how full the engine is.
  const byCapacity = first(samples, WAITING_BY_REASON)?.filter(({ labels }) => labels.includes('reason="capacity"'));
  const waiting = byCapacity !== undefined && byCapacity.length > 0 ? byCapacity : first(samples, WAITING);
  const kvUsage = first(samples, KV_USAGE);
  if (running === undefined && waiting === undefined && kvUsage === undefined) return null;
  return { running: sum(running), waiting: sum(waiting), kvUsageRatio: fullest(kvUsage) };
}

function readSamples(text: string): Samples {
  const wanted = new Set([...RUNNING, ...WAITING, ...WAITING_BY_REASON, ...KV_USAGE]);
  const samples = new Map<string, Sample[]>();
  for (const line of text.split(/\r?\n/)) {
    if (!line.startsWith("vllm")) continue;
    const [, name = "", labels = "", number = ""] = SAMPLE.exec(line) ?? [];
    if (!wanted.has(name)) continue;
    const list = samples.get(name) ?? [];
    list.push({ labels, value: readNumber(number) });
    samples.set(name, list);
  }
  return samples;
}

function first(samples: Samples, names: readonly string[]): readonly Sample[] | undefined {
  for (const name of names) {
    const found = samples.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function readNumber(text: string): number | null {
  const value = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}

/** Null as soon as one rank's number is unknown: a part of the sum would look like a free engine. */
function sum(samples: readonly Sample[] | undefined): number | null {
  if (samples === undefined) return null;
  let total = 0;
  for (const { value } of samples) {
    if (value === null) return null;
    total += value;
  }
  return total;
}

function fullest(samples: readonly Sample[] | undefined): number | null {
  const known = (samples ?? []).flatMap(({ value }) => (value === null ? [] : [value]));
  return known.length === 0 ? null : Math.min(1, Math.max(...known));
}
