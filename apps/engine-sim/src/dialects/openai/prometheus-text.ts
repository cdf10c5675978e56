import type { Histogram } from "../../engine/histogram.ts";

type Labels = Readonly<Record<string, string>>;

/** Writes the text format with the same labels on every series, numbers as Python's client writes them. */
export interface PrometheusText {
  gauge(name: string, help: string, samples: readonly Sample[]): void;
  /** @param name without `_total`, which is added as the Python client does */
  counter(name: string, help: string, samples: readonly Sample[]): void;
  histogram(name: string, help: string, histogram: Histogram): void;
  text(): string;
}

interface Sample {
  readonly value: number;
  readonly labels?: Labels;
}

export function createPrometheusText(common: Labels): PrometheusText {
  const lines: string[] = [];
  const head = (name: string, help: string, type: string) => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  };
  const line = (name: string, labels: Labels, value: number) => {
    lines.push(`${name}${labelText({ ...common, ...labels })} ${number(value)}`);
  };
  return {
    gauge(name, help, samples) {
      head(name, help, "gauge");
      for (const sample of samples) {
        line(name, sample.labels ?? {}, sample.value);
      }
    },
    counter(name, help, samples) {
      head(`${name}_total`, help, "counter");
      for (const sample of samples) {
        line(`${name}_total`, sample.labels ?? {}, sample.value);
      }
    },
    histogram(name, help, { bounds, counts, sum, count }) {
      head(name, help, "histogram");
      let below = 0;
      bounds.forEach((bound, index) => {
        below += counts[index] ?? 0;
        line(`${name}_bucket`, { le: number(bound) }, below);
      });
      line(`${name}_bucket`, { le: "+Inf" }, count);
      line(`${name}_count`, {}, count);
      line(`${name}_sum`, {}, sum);
    },
    text: () => `${lines.join("\n")}\n`,
  };
}

function number(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

function labelText(labels: Labels): string {
  const pairs = Object.keys(labels)
    .sort((left, right) => (left < right ? -1 : 1))
    .map(
      (name) =>
        `${name}="${(labels[name] ?? "").replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`,
    );
  return `{${pairs.join(",")}}`;
}
