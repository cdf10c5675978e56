import type { RoutingPolicy } from "../cluster/model.ts";
import type { Readiness } from "./routed-endpoint.ts";

/** What choosing needs to know of an endpoint. */
export interface Candidate {
  readonly readiness: Readiness;
  admits(nowMs: number): boolean;
  isBelowLimit(nowMs: number): boolean;
  score(nowMs: number): number;
  breakerWaitMs(nowMs: number): number;
}

/** A model's endpoints by state, in the table's order. Draining ones are in neither list. */
export interface EndpointGroups<E> {
  readonly serving: readonly E[];
  readonly moving: readonly E[];
}

export interface ChoiceInput<E> {
  readonly groups: EndpointGroups<E>;
  readonly policy: RoutingPolicy;
  /** Endpoints this request has been sent to already. */
  readonly tried: readonly E[];
  readonly nowMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Where round-robin goes on; grows by one with each choice. */
  readonly turn: number;
}

/**
 * `saturated`: there are endpoints, all of them at their limit. `none`: there is no endpoint to wait for; with
 * `breakerWaitMs` when open breakers are the only reason.
 */
export type Choice<E> =
  | { readonly kind: "endpoint"; readonly endpoint: E }
  | { readonly kind: "saturated" }
  | { readonly kind: "none"; readonly breakerWaitMs: number | null };

/** Random draws before falling back to looking at every endpoint. */
const MAX_DRAWS = 8;

/**
 * Chooses an endpoint for a request. Serving endpoints come first; a moving one is taken when no serving one is below its
 * limit. Endpoints that were never probed well are used only while no candidate was. Within a group `least-load` draws
 * two at random and takes the less busy one (M. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing",
 * 2001), which needs no walk over all endpoints and does not herd on stale numbers.
 */
export function chooseEndpoint<E extends Candidate>(input: ChoiceInput<E>): Choice<E> {
  const { serving, moving } = input.groups;
  const ready = pick(serving, input, "ready") ?? pick(moving, input, "ready");
  if (ready !== undefined) return { kind: "endpoint", endpoint: ready };
  if (hasCandidate(input, "ready")) return { kind: "saturated" };
  const unknown = pick(serving, input, "unknown") ?? pick(moving, input, "unknown");
  if (unknown !== undefined) return { kind: "endpoint", endpoint: unknown };
  if (hasCandidate(input, "unknown")) return { kind: "saturated" };
  return { kind: "none", breakerWaitMs: shortestBreakerWait(input) };
}

function isCandidate<E extends Candidate>(endpoint: E, input: ChoiceInput<E>, readiness: Readiness): boolean {
  return endpoint.readiness === readiness && endpoint.admits(input.nowMs) && !input.tried.includes(endpoint);
}

function hasCandidate<E extends Candidate>({ groups, ...rest }: ChoiceInput<E>, readiness: Readiness): boolean {
  const input = { groups, ...rest };
  const matches = (endpoint: E) => isCandidate(endpoint, input, readiness);
  return groups.serving.some(matches) || groups.moving.some(matches);
}

function pick<E extends Candidate>(list: readonly E[], input: ChoiceInput<E>, readiness: Readiness): E | undefined {
  const isEligible = (endpoint: E) => isCandidate(endpoint, input, readiness) && endpoint.isBelowLimit(input.nowMs);
  if (input.policy === "round-robin") return nextInTurn(list, input.turn, isEligible);
  return drawTwo(list, input, isEligible) ?? leastOfTwoByWalk(list, input, isEligible);
}

function nextInTurn<E>(list: readonly E[], turn: number, isEligible: (endpoint: E) => boolean): E | undefined {
  for (let step = 0; step < list.length; step += 1) {
    const endpoint = list[(turn + step) % list.length];
    if (endpoint !== undefined && isEligible(endpoint)) return endpoint;
  }
  return undefined;
}

function drawTwo<E extends Candidate>(
  list: readonly E[],
  { random, nowMs }: ChoiceInput<E>,
  isEligible: (endpoint: E) => boolean,
): E | undefined {
  if (list.length < 2) return undefined;
  let first: E | undefined;
  for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
    const endpoint = list[Math.floor(random() * list.length)];
    if (endpoint === undefined || endpoint === first || !isEligible(endpoint)) continue;
    if (first !== undefined) return lessBusy(first, endpoint, nowMs);
    first = endpoint;
  }
  return undefined;
}

/** The same draw among the eligible ones only, by reservoir sampling in one walk. */
function leastOfTwoByWalk<E extends Candidate>(
  list: readonly E[],
  { random, nowMs }: ChoiceInput<E>,
  isEligible: (endpoint: E) => boolean,
): E | undefined {
  let first: E | undefined;
  let second: E | undefined;
  let seen = 0;
  for (const endpoint of list) {
    if (!isEligible(endpoint)) continue;
    seen += 1;
    if (first === undefined) first = endpoint;
    else if (second === undefined) second = endpoint;
    else {
      const place = Math.floor(random() * seen);
      if (place === 0) first = endpoint;
      else if (place === 1) second = endpoint;
    }
  }
  if (first === undefined || second === undefined) return first;
  return random() < 0.5 ? lessBusy(first, second, nowMs) : lessBusy(second, first, nowMs);
}

/** The one with the lower score; on a tie the first, which was drawn at random. */
function lessBusy<E extends Candidate>(first: E, second: E, nowMs: number): E {
  return second.score(nowMs) < first.score(nowMs) ? second : first;
}

function shortestBreakerWait<E extends Candidate>({ groups, tried, nowMs }: ChoiceInput<E>): number | null {
  let shortest: number | null = null;
  for (const endpoint of [...groups.serving, ...groups.moving]) {
    if (endpoint.readiness === "unready" || endpoint.admits(nowMs) || tried.includes(endpoint)) continue;
    const waitMs = endpoint.breakerWaitMs(nowMs);
    shortest = shortest === null ? waitMs : Math.min(shortest, waitMs);
  }
  return shortest;
}
