import type { BreakerState } from "./breaker.ts";
import type { Choice } from "./choose.ts";
import type { EndpointState, Readiness, RoutedEndpoint } from "./routed-endpoint.ts";

/**
 * What became of an endpoint in a choice. `rival`: it was compared with the chosen one, and busier. `passed_over`: it could have
 * taken the request and was not drawn, or comes after the group that the chosen one is in.
 */
export type CandidateVerdict =
  | "chosen"
  | "rival"
  | "passed_over"
  | "draining"
  | "tried"
  | "unready"
  | "breaker"
  | "at_limit";

/** An endpoint with the numbers that a choice went by. */
export interface ExplainedCandidate<E> {
  readonly endpoint: E;
  readonly verdict: CandidateVerdict;
  readonly state: EndpointState;
  readonly readiness: Readiness;
  readonly breaker: BreakerState;
  readonly inflight: number;
  readonly maxInflight: number;
  /** Requests in it as the choice counts them. */
  readonly score: number;
  readonly weight: number;
  /** Share of its limits that it is filled to. */
  readonly fullness: number;
  readonly isStale: boolean;
}

/** Why a choice came out as it did: every endpoint with its numbers. To be called before the request is sent anywhere. */
export function explainChoice<E extends RoutedEndpoint>(
  endpoints: readonly E[],
  choice: Choice<E>,
  { tried, ceiling, nowMs }: { tried: readonly E[]; ceiling: number; nowMs: number },
): readonly ExplainedCandidate<E>[] {
  const verdictOf = (endpoint: E): CandidateVerdict => {
    if (choice.kind === "endpoint" && endpoint === choice.endpoint) return "chosen";
    if (endpoint.state === "draining") return "draining";
    if (tried.includes(endpoint)) return "tried";
    if (endpoint.readiness === "unready") return "unready";
    if (!endpoint.admits(nowMs)) return "breaker";
    if (!endpoint.isBelow(ceiling, nowMs)) return "at_limit";
    return choice.kind === "endpoint" && endpoint === choice.rival ? "rival" : "passed_over";
  };
  return endpoints.map((endpoint) => ({
    endpoint,
    verdict: verdictOf(endpoint),
    state: endpoint.state,
    readiness: endpoint.readiness,
    breaker: endpoint.breakerState(nowMs),
    inflight: endpoint.inflight,
    maxInflight: endpoint.maxInflight,
    score: endpoint.score(nowMs),
    weight: endpoint.weight(nowMs),
    fullness: endpoint.fullness(nowMs),
    isStale: endpoint.isStale(nowMs),
  }));
}
