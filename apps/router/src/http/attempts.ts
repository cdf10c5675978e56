import type { AffinityKeys } from "@llmgw/domain";
import type { Ask, ModelRoute } from "../registry/model-route.ts";
import type { InferenceKey } from "../registry/registry.ts";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";
import { type Admission, admit, shuttingDown } from "./admit.ts";
import type { Exchange } from "./exchange.ts";
import type { Gateway } from "./gateway.ts";
import { engineHeaders, engineQuery } from "./headers.ts";
import type { EngineRefusal } from "./refusal.ts";
import { Relay, type RelayEnd } from "./relay.ts";
import { type RouterError, routerError } from "./router-error.ts";
import type { UpstreamFailure } from "./upstream-failure.ts";

/** A request whose key is known to be good. */
export interface Call {
  readonly gateway: Gateway;
  readonly exchange: Exchange;
  readonly key: InferenceKey;
  /** Rank of its band; 0 goes first. */
  readonly rank: number;
}

interface Prepared {
  readonly route: ModelRoute;
  readonly body: Buffer;
  readonly stream: boolean;
  /** The event that tells the usage was asked for by the router, and is not for the client. */
  readonly hidesUsage: boolean;
  /** What ties it to earlier requests. */
  readonly affinity: AffinityKeys;
}

type LastEnd =
  | { readonly kind: "failed"; readonly failure: UpstreamFailure }
  | { readonly kind: "refused"; readonly refusal: EngineRefusal };

/** Sends a request to one endpoint after another until one answers, within the limits on retries. */
export async function runAttempts(call: Call, prepared: Prepared): Promise<void> {
  const { gateway, exchange } = call;
  const { route } = prepared;
  const { retry, admission } = gateway.registry.settings;
  const startMs = gateway.clock.monotonicMs();
  route.retryBudget.recordRequest(startMs);
  const tried: UpstreamEndpoint[] = [];
  const deadlineMs = startMs + admission.waitBudgetMs;
  let allowedAttempts = retry.maxAttempts;
  let isRaceRetried = false;
  let largestRetryAfter = 1;
  let last: LastEnd | null = null;

  while (!exchange.isClientGone) {
    const admitted = await admitOnce(call, prepared, { tried, deadlineMs });
    if (admitted.kind === "left") return;
    if (admitted.kind === "refused") {
      if (last === null) exchange.sendError(admitted.error);
      else answerLast(exchange, last, largestRetryAfter);
      return;
    }
    const { endpoint } = admitted.grant;
    exchange.replica = endpoint.entry.replica;
    exchange.attempts += 1;
    exchange.overheadMs ??= gateway.clock.monotonicMs() - (exchange.bodyAtMs ?? startMs) - exchange.queueWaitMs;
    const end = await relay(call, prepared, admitted.grant);
    if (end.kind === "answered") return;
    last = end;
    if (end.kind === "refused") largestRetryAfter = Math.max(largestRetryAfter, end.refusal.retryAfterSeconds ?? 1);
    const isRace = end.kind === "failed" && end.isStaleSocket && !isRaceRetried;
    if (isRace) {
      isRaceRetried = true;
      allowedAttempts += 1;
      gateway.observer.retried(route.id);
      // Another endpoint if there is one; else the same again, on another socket.
      if (hasOther(route, endpoint, gateway.clock.monotonicMs())) tried.push(endpoint);
      continue;
    }
    tried.push(endpoint);
    const mayRetry = isRetryable(end) && exchange.attempts < allowedAttempts && !gateway.isDraining();
    if (!mayRetry || !route.retryBudget.tryTake(gateway.clock.monotonicMs(), retry.budgetRatio)) {
      answerLast(exchange, last, largestRetryAfter);
      return;
    }
    gateway.observer.retried(route.id);
  }
}

async function admitOnce(
  call: Call,
  prepared: Prepared,
  { tried, deadlineMs }: { tried: readonly UpstreamEndpoint[]; deadlineMs: number },
): Promise<Admission> {
  const { gateway, exchange } = call;
  const { route, body } = prepared;
  const nowMs = gateway.clock.monotonicMs();
  const ask = askOf(call, prepared, { tried: [...tried], nowMs });
  const admitting = admit({ exchange, route, ask, bodyBytes: body.length, nowMs, deadlineMs, wheel: gateway.wheel });
  if (!(admitting instanceof Promise)) return admitting;
  const admission = await admitting;
  const waitedMs = gateway.clock.monotonicMs() - nowMs;
  exchange.queueWaitMs += waitedMs;
  gateway.observer.waited({ band: exchange.band, waitedMs, outcome: admission.kind });
  return admission;
}

function askOf(
  { gateway, exchange, key, rank }: Call,
  { route, affinity }: Prepared,
  { tried, nowMs }: { tried: readonly UpstreamEndpoint[]; nowMs: number },
): Ask {
  const ask = { rank, keyId: key.id, tried, affinity };
  if (!key.mayExplain || exchange.request.headers["x-llmgw-explain"] !== "1") return { ...ask, onChoice: null };
  const { clock, decisions } = gateway;
  return {
    ...ask,
    onChoice: (choice, ceiling) => {
      const request = {
        requestId: exchange.id,
        model: route.id,
        policy: route.entry.policy,
        band: exchange.band,
        attempt: exchange.attempts + 1,
        waitedMs: clock.monotonicMs() - nowMs,
        endpoints: route.endpoints,
        tried,
        ceiling,
        nowMs: clock.monotonicMs(),
        wallMs: clock.nowMs(),
      };
      decisions.add(request, choice);
    },
  };
}

async function relay(
  { gateway, exchange }: Call,
  { route, body, stream, hidesUsage }: Prepared,
  grant: Extract<Admission, { kind: "granted" }>["grant"],
): Promise<RelayEnd> {
  const target = exchange.request.url ?? "";
  const [path = ""] = target.split("?", 1);
  const span = gateway.tracer?.startAttempt(exchange) ?? null;
  const headers = engineHeaders(exchange.request.headers, {
    requestId: exchange.id,
    apiKey: grant.endpoint.entry.apiKey,
  });
  const request = {
    exchange,
    route,
    grant,
    path: path + engineQuery(target),
    headers,
    body,
    wantsStream: stream,
    hidesUsage,
  };
  if (span !== null) setTraceparent(headers, span.traceparent);
  const end = await new Relay(request, {
    wheel: gateway.wheel,
    nowMs: () => gateway.clock.monotonicMs(),
    wallMs: () => gateway.clock.nowMs(),
    onAttemptEnd: (kind) => gateway.observer.attemptEnded(kind),
  }).run();
  span?.end({ replica: grant.endpoint.entry.replica, kind: end.kind });
  return end;
}

/** `headers`: name, value, name, value. The engine's spans hang below the attempt's. */
function setTraceparent(headers: string[], traceparent: string): void {
  const at = headers.indexOf("traceparent");
  if (at === -1) headers.push("traceparent", traceparent);
  else headers[at + 1] = traceparent;
}

function hasOther(route: ModelRoute, endpoint: UpstreamEndpoint, nowMs: number): boolean {
  return route.routable.some((other) => other !== endpoint && other.readiness === "ready" && other.admits(nowMs));
}

function isRetryable(end: LastEnd): boolean {
  if (end.kind === "refused") return true;
  const { kind } = end.failure;
  return kind !== "auth" && kind !== "shutdown" && kind !== "local" && kind !== "first_byte";
}

/** No attempt brought an answer: the engine's own refusal where it is one that clients understand, else ours. */
function answerLast(exchange: Exchange, last: LastEnd, retryAfterSeconds: number): void {
  if (last.kind === "failed") {
    exchange.sendError(failureError(last.failure));
    return;
  }
  const { status, contentType, body } = last.refusal;
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(contentType)) {
    if (status === 429 || status === 503) {
      const message = `Every endpoint that was asked refused the request (${status}).`;
      exchange.sendError({ ...routerError("overloaded", message, { retryAfterSeconds }), status }, "upstream_error");
    } else exchange.sendError(routerError("upstream_error", `The engine answered ${status}.`));
    return;
  }
  if (exchange.isClientGone || exchange.isEnded) return;
  const headers = ["content-type", contentType, "content-length", String(body.length)];
  if (status === 429 || status === 503) headers.push("retry-after", String(retryAfterSeconds));
  exchange.writeHead(status, headers);
  exchange.response.end(body);
  exchange.end({ outcome: status === 429 ? "rejected" : "upstream_error", status });
}

function failureError(failure: UpstreamFailure): RouterError {
  const message = `${failure.message.charAt(0).toUpperCase()}${failure.message.slice(1)}.`;
  if (failure.kind === "auth") return routerError("upstream_auth", message);
  if (failure.kind === "shutdown") return shuttingDown();
  if (failure.kind === "local") return routerError("overloaded", message, { retryAfterSeconds: 1 });
  return routerError(failure.isTimeout ? "upstream_timeout" : "upstream_error", message);
}
