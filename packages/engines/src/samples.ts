/** What an engine says of its own load. A number it does not give, or gives as nonsense, is null: unknown is never 0. */
export interface EngineMetrics {
  /** Requests in execution, summed over the engine's ranks. */
  readonly running: number | null;
  /** Requests that wait for a place in a batch, summed over the ranks. */
  readonly waiting: number | null;
  /** Share of the KV cache in use, 0..1; the fullest rank's. */
  readonly kvUsageRatio: number | null;
}

export interface Sample {
  /** As written, braces included; empty for none. */
  readonly labels: string;
  /** Null for what is no number from 0 up. */
  readonly value: number | null;
}

export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** prefix name{labels} value [timestamp], where a label's value may hold any character but a bare quote. */
const SAMPLE = /^[a-z]+[:_](\w+)(\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?[ \t]+(\S+)(?:[ \t]+\S+)?[ \t]*$/;

/** Samples of the wanted families of one engine from Prometheus text: those whose name is `engine`, `:` or `_`, and the name. */
export function readSamples(text: string, engine: string, wanted: ReadonlySet<string>): Samples {
  const samples = new Map<string, Sample[]>();
  for (const line of text.split(/\r?\n/)) {
    if (!line.startsWith(engine)) continue;
    const [, name = "", labels = "", number = ""] = SAMPLE.exec(line) ?? [];
    if (!wanted.has(name)) continue;
    const list = samples.get(name) ?? [];
    list.push({ labels, value: readNumber(number) });
    samples.set(name, list);
  }
  return samples;
}

/** The samples of the first of these families that is there: names change between versions. */
export function first(samples: Samples, names: readonly string[]): readonly Sample[] | undefined {
  for (const name of names) {
    const found = samples.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Null as soon as one rank's number is unknown: a part of the sum would look like a free engine. */
export function sum(samples: readonly Sample[] | undefined): number | null {
  if (samples === undefined) return null;
  let total = 0;
  for (const { value } of samples) {
    if (value === null) return null;
    total += value;
  }
  return total;
}

/** The largest share that is known, at most 1. */
export function fullest(samples: readonly Sample[] | undefined): number | null {
  const known = (samples ?? []).flatMap(({ value }) => (value === null ? [] : [value]));
  return known.length === 0 ? null : Math.min(1, Math.max(...known));
}

function readNumber(text: string): number | null {
  const value = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}
