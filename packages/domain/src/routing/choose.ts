import type { RoutingPolicy } from "../cluster/model.ts";
import { type AffinityKeys, type AffinityTable, rendezvousWeight } from "./affinity.ts";
import type { EndpointState, Readiness } from "./routed-endpoint.ts";

/** What choosing needs to know of an endpoint. */
export interface Candidate {
  readonly state: EndpointState;
  readonly readiness: Readiness;
  /** A hash of its name, the same on every router. */
  readonly nameHash: number;
  admits(nowMs: number): boolean;
  /** True while it is filled to less than this share of its limits. */
  isBelow(ceiling: number, nowMs: number): boolean;
  score(nowMs: number): number;
  /** Its share of what a settled endpoint gets, above 0 up to 1: new ones start slowly. */
  weight(nowMs: number): number;
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
  /** Up to which share of its limits this request may fill an endpoint. */
  readonly ceiling: number;
  readonly nowMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Where round-robin goes on; grows by one with each choice. */
  readonly turn: number;
  /** What ties the request to earlier ones, under a policy that looks at it. */
  readonly keys: AffinityKeys;
  readonly table: AffinityTable<E>;
  /** One that has just finished something, to look at first while all others are known to be full. */
  readonly freed: E | null;
}

/**
 * Why an endpoint was taken. `affinity`: it has had this prompt's head or session before. `spill`: the one that has is busier
 * than the rest. `least_of_two`: the less busy of two drawn. `only`: no other one could take it. `freed`: it had just got room.
 */
export type ChoiceReason = "affinity" | "rendezvous" | "spill" | "least_of_two" | "round_robin" | "only" | "freed";

/**
 * `saturated`: there are endpoints, all of them at their limit. `none`: there is no endpoint to wait for; with
 * `breakerWaitMs` when open breakers are the only reason.
 */
export type Choice<E> =
  | { readonly kind: "endpoint"; readonly endpoint: E; readonly why: ChoiceReason; readonly rival: E | null }
  | { readonly kind: "saturated" }
  | { readonly kind: "none"; readonly breakerWaitMs: number | null };

interface Picked<E> {
  readonly endpoint: E;
  readonly why: ChoiceReason;
  /** The one it was compared with. */
  readonly rival: E | null;
}

/** Random draws before falling back to looking at every endpoint. */
const MAX_DRAWS = 8;
/** Endpoints looked at to know how busy they are on the mean. */
const MEAN_SAMPLE = 32;
/** An endpoint that remembers a prompt is left for another one when it is this much busier than the mean … */
const SPILL_RATIO = 1.25;
/** … and by more than so many requests, so that a few requests on an idle model do not scatter a conversation. */
const SPILL_SLACK = 2;

/**
 * Chooses an endpoint for a request. Serving endpoints come first; a moving one is taken when no serving one is below its
 * limit. Endpoints that were never probed well are used only while no candidate was. Within a group `least-load` draws
 * two at random and takes the less busy one (M. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing",
 * 2001), which needs no walk over all endpoints and does not herd on stale numbers.
 */
export function chooseEndpoint<E extends Candidate>(input: ChoiceInput<E>): Choice<E> {
  const { serving, moving } = input.groups;
  const ready = pick(serving, input, "ready") ?? pick(moving, input, "ready");
  if (ready !== undefined) return { kind: "endpoint", ...ready };
  if (hasCandidate(input, "ready")) return { kind: "saturated" };
  const unknown = pick(serving, input, "unknown") ?? pick(moving, input, "unknown");
  if (unknown !== undefined) return { kind: "endpoint", ...unknown };
  if (hasCandidate(input, "unknown")) return { kind: "saturated" };
  return { kind: "none", breakerWaitMs: shortestBreakerWait(input) };
}

function isCandidate<E extends Candidate>(endpoint: E, input: ChoiceInput<E>, readiness: Readiness): boolean {
  return endpoint.readiness === readiness && endpoint.admits(input.nowMs) && !input.tried.includes(endpoint);
}

function hasCandidate<E extends Candidate>(input: ChoiceInput<E>, readiness: Readiness): boolean {
  const matches = (endpoint: E) => isCandidate(endpoint, input, readiness);
  return input.groups.serving.some(matches) || input.groups.moving.some(matches);
}

function pick<E extends Candidate>(
  list: readonly E[],
  input: ChoiceInput<E>,
  readiness: Readiness,
): Picked<E> | undefined {
  if (list.length === 0) return undefined;
  const isEligible = (endpoint: E) =>
    isCandidate(endpoint, input, readiness) && endpoint.isBelow(input.ceiling, input.nowMs);
  if (input.keys.length > 0) return withAffinity(list, input, isEligible);
  const { freed, policy } = input;
  if (freed !== null && list[0]?.state === freed.state && isEligible(freed)) {
    return { endpoint: freed, why: "freed", rival: null };
  }
  return policy === "round-robin" ? nextInTurn(list, input, isEligible) : leastLoaded(list, input, isEligible);
}

function leastLoaded<E extends Candidate>(
  list: readonly E[],
  input: ChoiceInput<E>,
  isEligible: (endpoint: E) => boolean,
): Picked<E> | undefined {
  return drawTwo(list, input, isEligible) ?? leastOfTwoByWalk(list, input, isEligible);
}

function withAffinity<E extends Candidate>(
  list: readonly E[],
  input: ChoiceInput<E>,
  isEligible: (endpoint: E) => boolean,
): Picked<E> | undefined {
  const { keys, table, nowMs } = input;
  const known = table.find(keys);
  const isHere = known !== undefined && known.state === list[0]?.state;
  if (isHere && isEligible(known) && !isCrowded(known, list, input)) {
    table.remember(keys, known, false);
    return { endpoint: known, why: "affinity", rival: null };
  }
  const picked =
    !isHere && input.policy === "session" ? bestMatch(list, input, isEligible) : leastLoaded(list, input, isEligible);
  // One that is only full or crowded now keeps what it has; what is new goes to the endpoint that gets it.
  if (picked !== undefined) table.remember(keys, picked.endpoint, !isHere || !known.admits(nowMs));
  return isHere && picked !== undefined ? { ...picked, why: "spill", rival: known } : picked;
}

/** By the keys' and the endpoints' names alone: every router sends a session to the same endpoint. */
function bestMatch<E extends Candidate>(
  list: readonly E[],
  { keys, nowMs }: ChoiceInput<E>,
  isEligible: (endpoint: E) => boolean,
): Picked<E> | undefined {
  const key = keys[0] ?? 0;
  let best: E | undefined;
  let bestWeight = -1;
  for (const endpoint of list) {
    const weight = rendezvousWeight(key, endpoint.nameHash) * endpoint.weight(nowMs);
    if (weight <= bestWeight || !isEligible(endpoint)) continue;
    best = endpoint;
    bestWeight = weight;
  }
  return best === undefined ? undefined : { endpoint: best, why: "rendezvous", rival: null };
}

function isCrowded<E extends Candidate>(endpoint: E, list: readonly E[], { nowMs, random }: ChoiceInput<E>): boolean {
  const sample = Math.min(list.length, MEAN_SAMPLE);
  const first = list.length > MEAN_SAMPLE ? Math.floor(random() * list.length) : 0;
  let sum = 0;
  for (let index = 0; index < sample; index += 1) sum += list[(first + index) % list.length]?.score(nowMs) ?? 0;
  const mean = sum / sample;
  return endpoint.score(nowMs) > Math.max(SPILL_RATIO * mean, mean + SPILL_SLACK);
}

/** The next in turn; a new one is passed by now and then until it has warmed up. */
function nextInTurn<E extends Candidate>(
  list: readonly E[],
  { turn, nowMs, random }: ChoiceInput<E>,
  isEligible: (endpoint: E) => boolean,
): Picked<E> | undefined {
  let passedBy: E | undefined;
  for (let step = 0; step < list.length; step += 1) {
    const endpoint = list[(turn + step) % list.length];
    if (endpoint === undefined || !isEligible(endpoint)) continue;
    const weight = endpoint.weight(nowMs);
    if (weight >= 1 || random() < weight) return { endpoint, why: "round_robin", rival: null };
    passedBy ??= endpoint;
  }
  return passedBy === undefined ? undefined : { endpoint: passedBy, why: "only", rival: null };
}

function drawTwo<E extends Candidate>(
  list: readonly E[],
  { random, nowMs }: ChoiceInput<E>,
  isEligible: (endpoint: E) => boolean,
): Picked<E> | undefined {
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
): Picked<E> | undefined {
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
  if (first === undefined) return undefined;
  if (second === undefined) return { endpoint: first, why: "only", rival: null };
  return random() < 0.5 ? lessBusy(first, second, nowMs) : lessBusy(second, first, nowMs);
}

/** The less busy one for its weight; on a tie the first, which was drawn at random. */
function lessBusy<E extends Candidate>(first: E, second: E, nowMs: number): Picked<E> {
  const isSecond = busyness(second, nowMs) < busyness(first, nowMs);
  return isSecond
    ? { endpoint: second, why: "least_of_two", rival: first }
    : { endpoint: first, why: "least_of_two", rival: second };
}

/** What it would have with this request, as if it had its full weight. */
function busyness(endpoint: Candidate, nowMs: number): number {
  return (endpoint.score(nowMs) + 1) / endpoint.weight(nowMs);
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
