const BUCKET_MS = 1_000;

/** Counts events over a sliding window of whole seconds, in constant space and time. */
export class RateWindow {
  readonly #counts: number[];
  /** Which second each bucket holds; an older one is empty. */
  readonly #seconds: number[];
  #firstSecond: number | undefined;

  constructor(windowMs: number) {
    const buckets = Math.max(1, Math.ceil(windowMs / BUCKET_MS));
    this.#counts = Array.from({ length: buckets }, () => 0);
    this.#seconds = Array.from({ length: buckets }, () => -1);
  }

  add(nowMs: number, count = 1): void {
    const second = Math.floor(nowMs / BUCKET_MS);
    this.#firstSecond ??= second;
    const index = second % this.#counts.length;
    if (this.#seconds[index] !== second) {
      this.#seconds[index] = second;
      this.#counts[index] = 0;
    }
    this.#counts[index] = (this.#counts[index] ?? 0) + count;
  }

  /** Events in the window that ends now. */
  total(nowMs: number): number {
    const second = Math.floor(nowMs / BUCKET_MS);
    const oldest = second - this.#counts.length + 1;
    let sum = 0;
    for (let index = 0; index < this.#counts.length; index += 1) {
      const held = this.#seconds[index] ?? -1;
      if (held >= oldest && held <= second) sum += this.#counts[index] ?? 0;
    }
    return sum;
  }

  /** Events per second over the window, or over the time since the first event while that is shorter; null if none. */
  perSecond(nowMs: number): number | null {
    const total = this.total(nowMs);
    if (total === 0 || this.#firstSecond === undefined) return null;
    const seconds = Math.min(this.#counts.length, Math.floor(nowMs / BUCKET_MS) - this.#firstSecond + 1);
    return total / Math.max(1, seconds);
  }

  /** How long until the window holds less than `limit`, if nothing is added; 0 if it does now. */
  msUntilBelow(limit: number, nowMs: number): number {
    const length = this.#counts.length;
    const now = Math.floor(nowMs / BUCKET_MS);
    let total = this.total(nowMs);
    for (let second = now - length + 1; second <= now && total >= limit; second += 1) {
      const index = ((second % length) + length) % length;
      if (this.#seconds[index] !== second) continue;
      total -= this.#counts[index] ?? 0;
      if (total < limit) return (second + length) * BUCKET_MS - nowMs;
    }
    return 0;
  }

  clear(): void {
    this.#seconds.fill(-1);
  }
}
