import {
  type BreakerSettings,
  defaultBreakerSettings,
  defaultSaturationLimits,
  type SaturationLimits,
} from "@llmgw/domain";
import { bands } from "@llmgw/wire";

/** How a router behaves. Read anew by each request, so that a reload holds from the next one on. */
export interface RouterSettings {
  readonly admission: {
    /** How long a request may wait for a place while there are endpoints. */
    readonly waitBudgetMs: number;
    /** How long it may wait while nothing serves its model; 0: it is refused at once. */
    readonly noEndpointWaitMs: number;
    /** Per model and band. */
    readonly maxQueuedRequests: number;
    readonly maxQueuedBytes: number;
    readonly maxBodyBytes: number;
    /** All request bodies held at once. */
    readonly bodyMemoryBytes: number;
    /** Names of the bands; the first goes first. */
    readonly bands: readonly string[];
    /** Per band: up to which share of an endpoint's limits its requests may fill it. */
    readonly ceilings: readonly number[];
    /** Share of a model's dispatches that the bands after the first get for certain while they wait. */
    readonly lowBandShare: number;
  };
  readonly timeouts: {
    readonly connectMs: number;
    /** From dispatch to the first content of an event stream. */
    readonly firstByteMs: number;
    /** From dispatch to the head of any other answer. */
    readonly firstByteNonStreamMs: number;
    /** Between two bytes. */
    readonly idleMs: number;
    /** Between two content events of a stream. */
    readonly progressMs: number;
    /** How long a client may not read while something waits for it. */
    readonly clientStallMs: number;
    readonly clientHeadersMs: number;
    readonly clientKeepAliveMs: number;
    /** For a request's body, plus one second per MiB. */
    readonly uploadMs: number;
    /** How long open answers may go on after a stop signal. */
    readonly shutdownGraceMs: number;
  };
  readonly breaker: BreakerSettings;
  readonly retry: { readonly maxAttempts: number; readonly budgetRatio: number };
  readonly scrape: { readonly intervalMs: number; readonly timeoutMs: number; readonly staleAfterMs: number };
  readonly saturation: SaturationLimits;
  /** So long a new endpoint takes to get its full share. */
  readonly slowStartMs: number;
  /** Origins of web pages that may use this API; `*` for all. */
  readonly cors: { readonly origins: readonly string[] };
}

export const defaultRouterSettings: RouterSettings = {
  admission: {
    waitBudgetMs: 60_000,
    noEndpointWaitMs: 0,
    maxQueuedRequests: 5_000,
    maxQueuedBytes: 1_073_741_824,
    maxBodyBytes: 104_857_600,
    bodyMemoryBytes: 2_147_483_648,
    bands,
    ceilings: ceilingsFor(bands.length),
    lowBandShare: 0.1,
  },
  timeouts: {
    connectMs: 2_000,
    firstByteMs: 600_000,
    firstByteNonStreamMs: 1_800_000,
    idleMs: 60_000,
    progressMs: 300_000,
    clientStallMs: 120_000,
    clientHeadersMs: 60_000,
    clientKeepAliveMs: 75_000,
    uploadMs: 30_000,
    shutdownGraceMs: 900_000,
  },
  breaker: defaultBreakerSettings,
  retry: { maxAttempts: 3, budgetRatio: 0.2 },
  scrape: { intervalMs: 1_000, timeoutMs: 900, staleAfterMs: 5_000 },
  saturation: defaultSaturationLimits,
  slowStartMs: 30_000,
  cors: { origins: [] },
};

/** 1, 0.8, 0.6 … for so many bands, and never less than 0.2. */
export function ceilingsFor(count: number): readonly number[] {
  return Array.from({ length: count }, (_, rank) => Math.max(2, 10 - 2 * rank) / 10);
}
