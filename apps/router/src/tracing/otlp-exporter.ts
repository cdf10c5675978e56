import type { Clock, Logger, RunGroupPart } from "@llmgw/service";
import { request } from "undici";

export type AttributeValue = string | number | boolean;

/** A span that has ended. Instants are milliseconds since the epoch. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: "server" | "client";
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly isError: boolean;
}

export interface OtlpExporterOptions {
  /** `http://host:4318`: spans go to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log: Logger;
}

const EVERY_MS = 2_000;
const TIMEOUT_MS = 5_000;
/** Of a last batch when the router ends. */
const LAST_TIMEOUT_MS = 500;
const MAX_SPANS = 4_096;
/** SpanKind and StatusCode of opentelemetry/proto/trace/v1/trace.proto. */
const KIND = { server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

/** Sends spans to a collector by OTLP over HTTP in JSON. What the collector does not take in time is dropped, never waited for. */
export class OtlpExporter implements RunGroupPart {
  readonly name = "trace export";
  readonly #options: OtlpExporterOptions;
  #spans: Span[] = [];
  #dropped = 0;
  #problem: string | null = null;

  constructor(options: OtlpExporterOptions) {
    this.#options = options;
  }

  /** Spans that no collector has got. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: Span): void {
    if (this.#spans.length < MAX_SPANS) this.#spans.push(span);
    else this.#dropped += 1;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      try {
        await clock.sleep(EVERY_MS, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      await this.#send(signal.aborted ? LAST_TIMEOUT_MS : TIMEOUT_MS);
    }
  }

  async #send(timeoutMs: number): Promise<void> {
    const spans = this.#spans;
    if (spans.length === 0) return;
    this.#spans = [];
    const { endpoint, headers } = this.#options;
    try {
      const response = await request(`${endpoint}/v1/traces`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(this.#document(spans)),
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body.dump();
      if (response.statusCode < 300) this.#note(null, 0);
      else this.#note(`the collector answered ${response.statusCode}`, spans.length);
    } catch (error) {
      this.#note(error instanceof Error ? error.message : String(error), spans.length);
    }
  }

  #note(problem: string | null, dropped: number): void {
    this.#dropped += dropped;
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { log, endpoint } = this.#options;
    if (problem === null) log.info({ endpoint }, "traces are taken again");
    else log.warn({ endpoint, problem }, "traces are dropped: the collector does not take them");
  }

  #document(spans: readonly Span[]): object {
    return {
      resourceSpans: [
        {
          resource: { attributes: attributesOf(this.#options.resource) },
          scopeSpans: [{ scope: { name: "llmgw.router" }, spans: spans.map(spanOf) }],
        },
      ],
    };
  }
}

function spanOf({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, isError }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: KIND[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    status: isError ? { code: STATUS_ERROR } : {},
  };
}

/** 64-bit integers are texts in OTLP's JSON. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function attributesOf(attributes: Readonly<Record<string, AttributeValue>>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
