import { type Place, retryAfterSeconds, waitSeconds } from "@llmgw/domain";
import type { Grant, ModelRoute, Refusal, Waiter } from "../registry/model-route.ts";
import type { TimerWheel } from "../upstream/timer-wheel.ts";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";
import type { Exchange } from "./exchange.ts";
import { type RouterError, routerError, shown } from "./router-error.ts";

export type Admission =
  | { readonly kind: "granted"; readonly grant: Grant }
  | { readonly kind: "refused"; readonly error: RouterError }
  | { readonly kind: "left" };

export interface AdmitRequest {
  readonly exchange: Exchange;
  readonly route: ModelRoute;
  readonly tried: readonly UpstreamEndpoint[];
  /** Rank of its band; 0 goes first. */
  readonly rank: number;
  readonly bodyBytes: number;
  /** When it gives up waiting, monotonic milliseconds. */
  readonly deadlineMs: number;
  readonly wheel: TimerWheel;
}

/** Gets a request a place in an endpoint: at once, or after its turn in the queue of its band. */
export function admit(request: AdmitRequest): Admission | Promise<Admission> {
  const { route, tried } = request;
  const taken = route.take(tried);
  if (taken.kind === "granted") return taken;
  if (taken.kind === "none") return { kind: "refused", error: noEndpoint(route, taken) };
  return wait(request);
}

function wait({ exchange, route, tried, rank, bodyBytes, deadlineMs, wheel }: AdmitRequest): Promise<Admission> {
  return new Promise((resolve) => {
    let place: Place<Waiter> | null = null;
    const settle = (admission: Admission) => {
      timer.cancel();
      exchange.onInterrupt(null);
      resolve(admission);
    };
    const giveUp = (admission: Admission) => {
      if (place !== null && route.leave(place)) settle(admission);
    };
    const refused = (error: RouterError): Admission => ({ kind: "refused", error });
    const timer = wheel.add(
      {
        onDeadline: () => {
          giveUp(refused(queueError("queue_timeout", "It waited out its time for a place", route)));
          return null;
        },
      },
      deadlineMs,
    );
    const waiter: Waiter = {
      tried,
      grant: (grant) => settle({ kind: "granted", grant }),
      refuse: (refusal) => settle(refused(noEndpoint(route, refusal))),
    };
    exchange.onInterrupt((why) => giveUp(why === "client_closed" ? { kind: "left" } : refused(shuttingDown(route))));
    place = route.join(waiter, { rank, bytes: bodyBytes });
    if (place === null) settle(refused(queueError("queue_full", "The queue is full", route)));
    else route.pump();
  });
}

export function shuttingDown(route?: ModelRoute): RouterError {
  return routerError("shutting_down", "This router is shutting down. Send the request again.", {
    retryAfterSeconds: route === undefined ? 1 : retryAfterSeconds(1, route.drainRate()),
  });
}

function queueError(code: "queue_full" | "queue_timeout", why: string, route: ModelRoute): RouterError {
  const after = retryAfterSeconds(route.queued + 1, route.drainRate());
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
