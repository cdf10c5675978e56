import { type CandidateVerdict, type Choice, type ChoiceReason, explainChoice } from "@llmgw/domain";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";

/** One choice of an endpoint that somebody asked to be explained. */
export interface Decision {
  /** When, RFC 3339. */
  readonly at: string;
  readonly requestId: string;
  readonly model: string;
  readonly policy: string;
  readonly band: string | null;
  /** Which try of the request it was, from 1. */
  readonly attempt: number;
  readonly waitedMs: number;
  /** Up to which share of its limits the request was allowed to fill an endpoint. */
  readonly ceiling: number;
  /** The replica that was chosen; null when there was none. */
  readonly chosen: string | null;
  readonly why: ChoiceReason | "no_endpoint";
  readonly candidates: readonly DecisionCandidate[];
}

interface DecisionCandidate {
  readonly replica: string;
  readonly verdict: CandidateVerdict;
  readonly state: string;
  readonly readiness: string;
  readonly breaker: string;
  readonly inflight: number;
  readonly maxInflight: number;
  readonly score: number;
  readonly weight: number;
  readonly fullness: number;
  readonly stale: boolean;
}

export interface ExplainedRequest {
  readonly requestId: string;
  readonly model: string;
  readonly policy: string;
  readonly band: string | null;
  readonly attempt: number;
  readonly waitedMs: number;
  readonly endpoints: readonly UpstreamEndpoint[];
  readonly tried: readonly UpstreamEndpoint[];
  readonly ceiling: number;
  /** Monotonic milliseconds. */
  readonly nowMs: number;
  /** Milliseconds since the epoch. */
  readonly wallMs: number;
}

/** So many are kept. */
const KEPT = 50;

/** The last decisions that were asked for, newest first. */
export class DecisionLog {
  #decisions: readonly Decision[] = [];

  get decisions(): readonly Decision[] {
    return this.#decisions;
  }

  add(request: ExplainedRequest, choice: Choice<UpstreamEndpoint>): void {
    const { endpoints, tried, ceiling, nowMs, wallMs, requestId, model, policy, band, attempt, waitedMs } = request;
    const candidates = explainChoice(endpoints, choice, { tried, ceiling, nowMs }).map(
      ({ endpoint, isStale, score, weight, fullness, ...rest }) => ({
        replica: endpoint.entry.replica,
        ...rest,
        score: rounded(score),
        weight: rounded(weight),
        fullness: rounded(fullness),
        stale: isStale,
      }),
    );
    const decision: Decision = {
      at: new Date(wallMs).toISOString(),
      requestId,
      model,
      policy,
      band,
      attempt,
      waitedMs: Math.round(waitedMs),
      ceiling,
      chosen: choice.kind === "endpoint" ? choice.endpoint.entry.replica : null,
      why: choice.kind === "endpoint" ? choice.why : "no_endpoint",
      candidates,
    };
    this.#decisions = [decision, ...this.#decisions.slice(0, KEPT - 1)];
  }
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
