/** One reading of a metrics page. */
export class MetricsPage {
  readonly #lines: readonly { name: string; labels: string; value: number }[];

  constructor(text: string) {
    this.#lines = text
      .split("\n")
      .map((line) => /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line))
      .filter((found) => found !== null)
      .map(([, name = "", labels = "", value = ""]) => ({ name, labels, value: Number(value) }));
  }

  /** Sum over all series of a metric. */
  sum(name: string): number {
    return this.#lines.filter((line) => line.name === name).reduce((sum, { value }) => sum + value, 0);
  }

  /** Sums by the value of one label. */
  by(name: string, label: string): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const line of this.#lines) {
      if (line.name !== name) continue;
      const key = new RegExp(`${label}="([^"]*)"`).exec(line.labels)?.[1] ?? "";
      sums[key] = (sums[key] ?? 0) + line.value;
    }
    return sums;
  }
}

/** Reads the metrics of a router's diagnostics listener. */
export class RouterMetricsReader {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async read(): Promise<MetricsPage> {
    const answer = await fetch(`${this.#url}/metrics`, { signal: AbortSignal.timeout(10_000) });
    return new MetricsPage(await answer.text());
  }
}
