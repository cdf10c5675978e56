import { RateWindow } from "../routing/rate-window.ts";

/** What one key may use. Null: no limit. */
export interface KeyLimits {
  readonly requestsPerMinute: number | null;
  /** Tokens of prompts and answers together. */
  readonly tokensPerMinute: number | null;
  /** Requests at a time. */
  readonly concurrent: number | null;
}

export const noKeyLimits: KeyLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrent: null };

/** `limit`: the one that was reached, as this router counts it. */
export type MeterAnswer =
  | { readonly kind: "ok" }
  | { readonly kind: "refused"; readonly by: keyof KeyLimits; readonly limit: number; readonly retryAfterMs: number };

const MINUTE_MS = 60_000;
/** While a key's requests take all its places nobody knows when the next one ends. */
const CONCURRENT_RETRY_MS = 1_000;

/**
 * Counts what one key uses over the last minute and now. Tokens are known only when a request has ended: a key is refused once it
 * has used its limit, so that the request that goes over it is the last one for a while.
 */
export class KeyMeter {
  readonly #requests = new RateWindow(MINUTE_MS);
  readonly #tokens = new RateWindow(MINUTE_MS);
  #limits: KeyLimits = noKeyLimits;
  #open = 0;

  /** Takes this router's part of a key's limits: `routers` share them. */
  configure(limits: KeyLimits, routers: number): void {
    const part = (limit: number | null) => (limit === null ? null : Math.max(1, Math.floor(limit / routers)));
    this.#limits = {
      requestsPerMinute: part(limits.requestsPerMinute),
      tokensPerMinute: part(limits.tokensPerMinute),
      concurrent: part(limits.concurrent),
    };
  }

  /** Requests that go on now. */
  get open(): number {
    return this.#open;
  }

  /** Counts one request, to be ended by `end` exactly once, or says which limit it would go over. */
  begin(nowMs: number): MeterAnswer {
    const { requestsPerMinute, tokensPerMinute, concurrent } = this.#limits;
    if (concurrent !== null && this.#open >= concurrent) {
      return { kind: "refused", by: "concurrent", limit: concurrent, retryAfterMs: CONCURRENT_RETRY_MS };
    }
    if (requestsPerMinute !== null && this.#requests.total(nowMs) >= requestsPerMinute) {
      const retryAfterMs = this.#requests.msUntilBelow(requestsPerMinute, nowMs);
      return { kind: "refused", by: "requestsPerMinute", limit: requestsPerMinute, retryAfterMs };
    }
    if (tokensPerMinute !== null && this.#tokens.total(nowMs) >= tokensPerMinute) {
      const retryAfterMs = this.#tokens.msUntilBelow(tokensPerMinute, nowMs);
      return { kind: "refused", by: "tokensPerMinute", limit: tokensPerMinute, retryAfterMs };
    }
    this.#open += 1;
    if (requestsPerMinute !== null) this.#requests.add(nowMs);
    return { kind: "ok" };
  }

  end(tokens: number, nowMs: number): void {
    this.#open -= 1;
    if (this.#limits.tokensPerMinute !== null && tokens > 0) this.#tokens.add(nowMs, tokens);
  }
}
