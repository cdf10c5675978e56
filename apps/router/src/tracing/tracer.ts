import type { Clock } from "@llmgw/service";
import type { Exchange, ExchangeEnd } from "../http/exchange.ts";
import type { AttributeValue, Span } from "./otlp-exporter.ts";
import { newSpanId, newTraceId, readTraceparent, type TraceContext, writeTraceparent } from "./trace-context.ts";

export interface TracerOptions {
  readonly export: (span: Span) => void;
  /** Share of traces that begin here and are kept, 0..1. Those that begin elsewhere are kept as their beginner says. */
  readonly ratio: number;
  readonly clock: Clock;
  readonly random: () => number;
}

/** One attempt on an engine, from before it is sent. */
export interface AttemptSpan {
  /** What the engine gets as `traceparent`. */
  readonly traceparent: string;
  end(outcome: { readonly replica: string; readonly kind: string }): void;
}

interface RequestTrace {
  readonly context: TraceContext;
  readonly parentSpanId: string | null;
}

/** `gen_ai.operation.name` by path (OpenTelemetry semantic conventions for generative AI). */
const OPERATIONS: Readonly<Record<string, string>> = {
  "/v1/chat/completions": "chat",
  "/v1/messages": "chat",
  "/v1/responses": "chat",
  "/v1/completions": "text_completion",
  "/v1/embeddings": "embeddings",
};

/** Spans of requests and of their attempts. Nothing in them was written by a client: no prompt, no key, no unknown name. */
export class Tracer {
  readonly #options: TracerOptions;
  readonly #requests = new WeakMap<Exchange, RequestTrace>();

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  startAttempt(exchange: Exchange): AttemptSpan {
    const { clock } = this.#options;
    const { context } = this.#requestOf(exchange);
    const attempt: TraceContext = { ...context, spanId: newSpanId() };
    const startMs = clock.monotonicMs();
    const number = exchange.attempts;
    return {
      traceparent: writeTraceparent(attempt),
      end: ({ replica, kind }) => {
        this.#add({
          context: attempt,
          parentSpanId: context.spanId,
          name: "attempt",
          kind: "client",
          startMs,
          attributes: { "llmgw.replica": replica, "llmgw.attempt": number, "llmgw.attempt.outcome": kind },
          isError: kind !== "answered",
        });
      },
    };
  }

  exchangeEnded(exchange: Exchange, { outcome, status }: ExchangeEnd): void {
    const operation = OPERATIONS[(exchange.request.url ?? "").split("?", 1)[0] ?? ""];
    if (exchange.keyId === null && exchange.modelId === null) return; // nobody's request, or none of inference
    const { context, parentSpanId } = this.#requestOf(exchange);
    const { modelId, usage, firstTokenMs, startMs, replica, band, keyId } = exchange;
    const attributes: Record<string, AttributeValue> = {
      "http.response.status_code": status,
      "llmgw.outcome": outcome,
      "llmgw.attempts": exchange.attempts,
      "llmgw.queue_wait_ms": Math.round(exchange.queueWaitMs),
      "llmgw.request_id": exchange.id,
    };
    if (operation !== undefined) attributes["gen_ai.operation.name"] = operation;
    if (modelId !== null) attributes["gen_ai.request.model"] = modelId;
    if (keyId !== null) attributes["llmgw.key"] = keyId;
    if (band !== null) attributes["llmgw.band"] = band;
    if (replica !== null) attributes["llmgw.replica"] = replica;
    if (usage !== null) {
      attributes["gen_ai.usage.input_tokens"] = usage.promptTokens;
      attributes["gen_ai.usage.output_tokens"] = usage.completionTokens;
    }
    if (firstTokenMs !== null) attributes["gen_ai.server.time_to_first_token"] = (firstTokenMs - startMs) / 1_000;
    if (status >= 500) attributes["error.type"] = outcome;
    const name = `${operation ?? "request"} ${modelId ?? "unknown"}`;
    this.#add({ context, parentSpanId, name, kind: "server", startMs, attributes, isError: status >= 500 });
  }

  #requestOf(exchange: Exchange): RequestTrace {
    const known = this.#requests.get(exchange);
    if (known !== undefined) return known;
    const parent = readTraceparent(exchange.request.headers["traceparent"]);
    const trace: RequestTrace = {
      context: {
        traceId: parent?.traceId ?? newTraceId(),
        spanId: newSpanId(),
        isSampled: parent?.isSampled ?? this.#options.random() < this.#options.ratio,
      },
      parentSpanId: parent?.spanId ?? null,
    };
    this.#requests.set(exchange, trace);
    return trace;
  }

  /** `startMs`: monotonic; it ends now. */
  #add({ context, startMs, ...span }: Omit<Span, "traceId" | "spanId" | "endMs"> & { context: TraceContext }): void {
    if (!context.isSampled) return;
    const { clock } = this.#options;
    const endMs = clock.nowMs();
    const { traceId, spanId } = context;
    this.#options.export({ ...span, traceId, spanId, startMs: endMs - (clock.monotonicMs() - startMs), endMs });
  }
}
