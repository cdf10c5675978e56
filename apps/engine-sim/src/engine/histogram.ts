/** A Prometheus histogram: counts per upper bound, cumulative only when written out. */
export interface Histogram {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum: number;
  count: number;
}

/** @param bounds upper bounds in rising order, without +Inf */
export function createHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: bounds.map(() => 0), sum: 0, count: 0 };
}

export function observe(histogram: Histogram, value: number): void {
  histogram.sum += value;
  histogram.count += 1;
  const at = histogram.bounds.findIndex((bound) => value <= bound);
  if (at >= 0) {
    histogram.counts[at] = (histogram.counts[at] ?? 0) + 1;
  }
}
