import type { Clock, Logger } from "@llmgw/service";
import type { Exchange, ExchangeEnd } from "../http/exchange.ts";
import { routeOf } from "../http/routes.ts";

/** One line for each request: ids and times, never a key, a prompt or anything else a client wrote. */
export function logExchange(
  log: Logger,
  clock: Clock,
  { exchange, end }: { exchange: Exchange; end: ExchangeEnd },
): void {
  const { method = "", url = "" } = exchange.request;
  const route = routeOf(method, url).kind;
  if (route === "healthz") return;
  log.info(
    {
      requestId: exchange.id,
      route,
      status: end.status,
      outcome: end.outcome,
      model: exchange.modelId,
      key: exchange.keyId,
      band: exchange.band,
      replica: exchange.replica,
      attempts: exchange.attempts,
      queueWaitMs: Math.round(exchange.queueWaitMs),
      firstTokenMs: exchange.firstTokenMs === null ? null : Math.round(exchange.firstTokenMs - exchange.startMs),
      promptTokens: exchange.usage?.promptTokens ?? null,
      completionTokens: exchange.usage?.completionTokens ?? null,
      durationMs: Math.round(clock.monotonicMs() - exchange.startMs),
    },
    "request",
  );
}
