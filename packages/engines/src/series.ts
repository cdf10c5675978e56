/** name{labels} value [timestamp], where a label's value may hold any character but a bare quote. */
const sample = /^([A-Za-z_:][\w:]*)(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?[ \t]+(\S+)(?:[ \t]+\S+)?[ \t]*$/;

/**
 * The sum of a metric over all its series on a Prometheus page, by the first of several names that stands there. Null
 * when none does, or when one number of it is no count: a part of a sum would look like a smaller one.
 */
export function seriesTotal(text: string, names: readonly string[]): number | null {
  for (const name of names) {
    let total: number | null = null;
    for (const line of text.split(/\r?\n/)) {
      if (!line.startsWith(name)) continue;
      const [, found, number = ""] = sample.exec(line) ?? [];
      if (found !== name) continue;
      const value = Number(number);
      if (!Number.isFinite(value) || value < 0) return null;
      total = (total ?? 0) + value;
    }
    if (total !== null) return total;
  }
  return null;
}
