/** What an engine last said of itself. A number it does not give is null, never 0. */
export interface EngineReading {
  readonly running: number | null;
  readonly waiting: number | null;
  /** Share of the KV cache in use, 0..1. */
  readonly kvUsageRatio: number | null;
}

/** Where "full" begins. */
export interface SaturationLimits {
  /** Requests waiting in the engine. */
  readonly waiting: number;
  /** Share of the KV cache, 0..1. */
  readonly kvUsage: number;
}

export const defaultSaturationLimits: SaturationLimits = { waiting: 5, kvUsage: 0.8 };

/** Everything that says how full one endpoint is. */
export interface EndpointLoad {
  /** Sent by this router and not finished. */
  readonly inflight: number;
  /** Hard cap on `inflight`. */
  readonly maxInflight: number;
  /** How many requests the engine runs at once; null where nobody knows. */
  readonly maxConcurrent: number | null;
  /** The last scrape; null when there is none or it is stale. */
  readonly reading: EngineReading | null;
  readonly sentSinceScrape: number;
  readonly finishedSinceScrape: number;
}

/**
 * Requests that wait in the engine by now: those it reported, plus what this router sent since, minus what finished
 * since, minus the places that were free. Null where the engine did not say. Without this, a handful of dispatches
 * between two scrapes would look like a queue on an idle engine.
 */
export function predictedWaiting(load: EndpointLoad): number | null {
  const { reading, maxConcurrent } = load;
  if (reading === null || maxConcurrent === null || reading.waiting === null || reading.running === null) return null;
  const free = Math.max(0, maxConcurrent - reading.running);
  return Math.max(0, reading.waiting + load.sentSinceScrape - load.finishedSinceScrape - free);
}

/**
 * How full an endpoint is; 1 is the healthy limit, more is possible. The larger of predicted waiting over its limit and
 * KV usage over its limit; where the waiting is unknown, requests in flight over their cap stand in for it.
 */
export function endpointSaturation(load: EndpointLoad, limits: SaturationLimits): number {
  const waiting = predictedWaiting(load);
  const byRequests = waiting === null ? load.inflight / load.maxInflight : waiting / limits.waiting;
  const kvUsage = load.reading?.kvUsageRatio ?? null;
  return kvUsage === null ? byRequests : Math.max(byRequests, kvUsage / limits.kvUsage);
}

/** Share of its limits that an endpoint has used up, of the healthy limit and of the hard cap alike; 1 is full. */
export function fullness(load: EndpointLoad, limits: SaturationLimits): number {
  return Math.max(load.inflight / load.maxInflight, endpointSaturation(load, limits));
}

/** A model's saturation: the mean over its routable endpoints, not clamped; 1 for a model without any. */
export function modelSaturation(loads: readonly EndpointLoad[], limits: SaturationLimits): number {
  if (loads.length === 0) return 1;
  return loads.reduce((sum, load) => sum + endpointSaturation(load, limits), 0) / loads.length;
}
