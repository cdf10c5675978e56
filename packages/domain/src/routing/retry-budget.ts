import { RateWindow } from "./rate-window.ts";

const WINDOW_MS = 10_000;
/** So many retries are always allowed in a window: small traffic must not be refused its first one. */
const FLOOR = 10;

/** Keeps retries to a share of a model's requests, so that an overload is not multiplied by its own retries. */
export class RetryBudget {
  readonly #requests = new RateWindow(WINDOW_MS);
  readonly #retries = new RateWindow(WINDOW_MS);

  recordRequest(nowMs: number): void {
    this.#requests.add(nowMs);
  }

  /** Takes one retry from the budget; false when it is used up. `ratio` is the allowed share of requests, 0..1. */
  tryTake(nowMs: number, ratio: number): boolean {
    const allowed = Math.max(FLOOR, ratio * this.#requests.total(nowMs));
    if (this.#retries.total(nowMs) >= allowed) return false;
    this.#retries.add(nowMs);
    return true;
  }
}
