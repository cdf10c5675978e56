import type { IncomingMessage, ServerResponse } from "node:http";
import { errorBody, type RouterError } from "./router-error.ts";

export type Outcome =
  | "ok"
  | "client_error"
  | "upstream_error"
  | "timeout"
  | "rejected"
  | "client_closed"
  | "client_stalled"
  | "shutdown";

/** How a request ended, told once. */
export interface ExchangeEnd {
  readonly outcome: Outcome;
  readonly status: number;
}

export interface ExchangeOptions {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startMs: number;
  readonly isDraining: () => boolean;
  readonly onEnd: (exchange: Exchange, end: ExchangeEnd) => void;
}

/** One client request from its head to the end of its answer. Ends exactly once, whatever happens. */
export class Exchange {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startMs: number;
  readonly #isDraining: () => boolean;
  readonly #onEnd: ExchangeOptions["onEnd"];
  #end: ExchangeEnd | null = null;
  #isClientGone = false;
  #interrupt: ((why: "client_closed" | "shutdown") => void) | null = null;
  /** For the log and the metrics; a model is set only once it is known to exist. */
  modelId: string | null = null;
  keyId: string | null = null;
  band: string | null = null;
  replica: string | null = null;
  attempts = 0;
  firstTokenMs: number | null = null;

  constructor(options: ExchangeOptions) {
    this.id = options.id;
    this.request = options.request;
    this.response = options.response;
    this.startMs = options.startMs;
    this.#isDraining = options.isDraining;
    this.#onEnd = options.onEnd;
    // 'close' of the request only says that its body was read; the response's own says whether the client left.
    this.response.once("close", () => {
      if (!this.response.writableEnded) this.#leave();
    });
    this.response.on("error", () => this.#leave());
  }

  get isClientGone(): boolean {
    return this.#isClientGone;
  }

  get isEnded(): boolean {
    return this.#end !== null;
  }

  /** Who is to be told when the client leaves or the router gives up on open answers; the last one set counts. */
  onInterrupt(interrupt: ((why: "client_closed" | "shutdown") => void) | null): void {
    this.#interrupt = interrupt;
  }

  /** Ends what is going on: its grace is over. */
  cut(): void {
    this.#interrupt?.("shutdown");
  }

  end(end: ExchangeEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#interrupt = null;
    this.#onEnd(this, end);
  }

  /** Starts an answer: `headers` are name, value, name, value, in lower case. */
  writeHead(status: number, headers: string[]): void {
    if (this.#isDraining()) this.response.shouldKeepAlive = false;
    headers.push("x-request-id", this.id);
    if (this.replica !== null) headers.push("x-llmgw-endpoint", this.replica);
    this.response.writeHead(status, headers);
  }

  /** Answers with a whole JSON body. */
  sendJson(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    const bytes = Buffer.from(JSON.stringify(body));
    const list = ["content-type", "application/json", "content-length", String(bytes.length)];
    for (const [name, value] of Object.entries(headers)) list.push(name, value);
    this.writeHead(status, list);
    this.response.end(bytes);
  }

  /** Answers with an error of the router's own and ends with `outcome`. */
  sendError(error: RouterError, outcome: Outcome = outcomeOf(error)): void {
    if (this.#isClientGone || this.#end !== null) return;
    const headers: Record<string, string> = { ...error.headers, "x-llmgw-reason": error.code };
    if (error.retryAfterSeconds !== null) headers["retry-after"] = String(error.retryAfterSeconds);
    if (this.#hasUnreadBody()) {
      this.response.shouldKeepAlive = false;
      this.request.resume();
    }
    this.sendJson(error.status, errorBody(error), headers);
    this.end({ outcome, status: error.status });
  }

  #hasUnreadBody(): boolean {
    const { headers, complete } = this.request;
    return !complete && (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined);
  }

  #leave(): void {
    if (this.#isClientGone) return;
    this.#isClientGone = true;
    this.#interrupt?.("client_closed");
    this.end({ outcome: "client_closed", status: 499 });
  }
}

function outcomeOf({ status, code }: RouterError): Outcome {
  if (code === "shutting_down") return "shutdown";
  if (status === 429 || status === 503) return "rejected";
  if (status === 504) return "timeout";
  return status >= 500 ? "upstream_error" : "client_error";
}
