import { type Place, retryAfterSeconds, waitSeconds } from "@llmgw/domain";
import type { Ask, Grant, ModelRoute, Refusal, Waiter } from "../registry/model-route.ts";
import type { TimerTarget, TimerWheel } from "../upstream/timer-wheel.ts";
import type { Exchange } from "./exchange.ts";
import { type RouterError, routerError, shown } from "./router-error.ts";

export type Admission =
  | { readonly kind: "granted"; readonly grant: Grant }
  | { readonly kind: "refused"; readonly error: RouterError }
  | { readonly kind: "left" };

export interface AdmitRequest {
  readonly exchange: Exchange;
  readonly route: ModelRoute;
  readonly ask: Ask;
  readonly bodyBytes: number;
  /** Monotonic milliseconds. */
  readonly nowMs: number;
  /** When it gives up waiting for a place, monotonic milliseconds. */
  readonly deadlineMs: number;
  readonly wheel: TimerWheel;
}

/** Gets a request a place in an endpoint: at once, or after its turn in the queue of its band. */
export function admit(request: AdmitRequest): Admission | Promise<Admission> {
  const { route, ask, nowMs } = request;
  const taken = route.take(ask);
  if (taken.kind === "granted") return taken;
  if (taken.kind === "none" && route.noEndpointWaitLeftMs({ ask, sinceMs: nowMs }, nowMs) <= 0) {
    return { kind: "refused", error: noEndpoint(route, taken) };
  }
  return new Promise((resolve) => new Wait(request, resolve).start());
}

/** One request's wait in the queue. It ends once: with a place, or with what became of it. */
class Wait implements Waiter, TimerTarget {
  readonly ask: Ask;
  readonly sinceMs: number;
  readonly #request: AdmitRequest;
  readonly #resolve: (admission: Admission) => void;
  readonly #timer;
  #place: Place<Waiter> | null = null;

  constructor(request: AdmitRequest, resolve: (admission: Admission) => void) {
    this.ask = request.ask;
    this.sinceMs = request.nowMs;
    this.#request = request;
    this.#resolve = resolve;
    this.#timer = request.wheel.add(this, this.#nextDeadlineMs(request.nowMs));
  }

  start(): void {
    const { exchange, route, bodyBytes, ask } = this.#request;
    exchange.onInterrupt((why) => {
      if (why === "client_closed") this.#giveUp({ kind: "left" });
      else this.#giveUp({ kind: "refused", error: shuttingDown(route) });
    });
    this.#place = route.join(this, bodyBytes);
    if (this.#place === null) {
      this.refuseWith(queueError("queue_full", "The queue is full", { route, rank: ask.rank }));
    } else route.pump();
  }

  grant(grant: Grant): void {
    this.#settle({ kind: "granted", grant });
  }

  refuse(refusal: Refusal): void {
    this.refuseWith(noEndpoint(this.#request.route, refusal));
  }

  refuseWith(error: RouterError): void {
    this.#settle({ kind: "refused", error });
  }

  onDeadline(nowMs: number): number | null {
    const { route, deadlineMs, ask } = this.#request;
    const isWithoutEndpoint = route.noEndpointSinceMs !== null;
    if (isWithoutEndpoint && (nowMs >= deadlineMs || route.noEndpointWaitLeftMs(this, nowMs) <= 0)) {
      this.#giveUp({ kind: "refused", error: noEndpoint(route, { kind: "none", breakerWaitMs: null }) });
      return null;
    }
    if (nowMs < deadlineMs) return this.#nextDeadlineMs(nowMs);
    const why = "It waited out its time for a place";
    this.#giveUp({ kind: "refused", error: queueError("queue_timeout", why, { route, rank: ask.rank }) });
    return null;
  }

  /** While nothing serves the model, when that has lasted too long; else the end of the wait itself. */
  #nextDeadlineMs(nowMs: number): number {
    const { route, deadlineMs } = this.#request;
    const leftMs = route.noEndpointWaitLeftMs(this, nowMs);
    return leftMs <= 0 ? deadlineMs : Math.min(deadlineMs, nowMs + leftMs);
  }

  #giveUp(admission: Admission): void {
    if (this.#place !== null && this.#request.route.leave(this.#place)) this.#settle(admission);
  }

  #settle(admission: Admission): void {
    this.#timer.cancel();
    this.#request.exchange.onInterrupt(null);
    this.#resolve(admission);
  }
}

export function shuttingDown(route?: ModelRoute): RouterError {
  return routerError("shutting_down", "This router is shutting down. Send the request again.", {
    retryAfterSeconds: route === undefined ? 1 : retryAfterSeconds(1, route.drainRate()),
  });
}

function queueError(
  code: "queue_full" | "queue_timeout",
  why: string,
  { route, rank }: { route: ModelRoute; rank: number },
): RouterError {
  const after = retryAfterSeconds(route.ahead(rank) + 1, route.drainRate());
  return routerError(code, `${why}: every endpoint of model ${shown(route.id)} is at its limit.`, {
    retryAfterSeconds: after,
  });
}

function noEndpoint(route: ModelRoute, refusal: Refusal): RouterError {
  if (refusal.kind === "removed") return modelNotFound(route.id);
  const { breakerWaitMs } = refusal;
  if (breakerWaitMs !== null) {
    return routerError("no_endpoint", `Every endpoint of model ${shown(route.id)} is failing and rests for now.`, {
      retryAfterSeconds: waitSeconds(breakerWaitMs),
    });
  }
  return routerError("no_endpoint", `No endpoint serves model ${shown(route.id)} at present.`, {
    retryAfterSeconds: retryAfterSeconds(1, null),
  });
}

export function modelNotFound(name: string): RouterError {
  return routerError("model_not_found", `The model ${shown(name)} does not exist here.`, { param: "model" });
}
