import type { IncomingMessage, ServerResponse } from "node:http";
import type { TokenUsage } from "./answer-usage.ts";
import { corsHeaders } from "./cors.ts";
import { type Dialect, errorBody } from "./dialect.ts";
import type { RouterError } from "./router-error.ts";

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
  /** In which its errors are told. */
  readonly dialect: Dialect;
  /** Its origin, if pages from there may read the answer. */
  readonly corsOrigin: string | null;
  readonly isDraining: () => boolean;
  readonly onEnd: (exchange: Exchange, end: ExchangeEnd) => void;
}

const UPLOAD_LINGER_MS = 2_000;

/** One client request from its head to the end of its answer. Ends exactly once, whatever happens. */
export class Exchange {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startMs: number;
  readonly dialect: Dialect;
  readonly #corsOrigin: string | null;
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
  /** How long it waited for a place, over all attempts. */
  queueWaitMs = 0;
  /** When its body had arrived. */
  bodyAtMs: number | null = null;
  /** From its whole body to its first dispatch, without waiting for a place; null while it was not sent. */
  overheadMs: number | null = null;
  firstTokenMs: number | null = null;
  /** The last content event of a stream that has ended. */
  lastTokenMs: number | null = null;
  /** Content events of a streamed answer. */
  contentEvents = 0;
  /** What the engine says the answer took; null where it says nothing. */
  usage: TokenUsage | null = null;

  constructor(options: ExchangeOptions) {
    this.id = options.id;
    this.request = options.request;
    this.response = options.response;
    this.startMs = options.startMs;
    this.dialect = options.dialect;
    this.#corsOrigin = options.corsOrigin;
    this.#isDraining = options.isDraining;
    this.#onEnd = options.onEnd;
    // 'close' of the request only says that its body was read, and a response that waits for those before it on its
    // connection (pipelining) is not told at all.
    this.request.socket.setMaxListeners(0).once("close", this.#leave);
    this.response.on("error", this.#leave);
  }

  /** Tokens of prompt and answer as the engine tells them; where it tells none, so many as there were content events. */
  get totalTokens(): number {
    const { usage, contentEvents } = this;
    return usage === null ? contentEvents : usage.promptTokens + usage.completionTokens;
  }

  get isClientGone(): boolean {
    return this.#isClientGone;
  }

  get isEnded(): boolean {
    return this.#end !== null;
  }

  /** True if pages of the origin that it comes from may use this API. */
  get isCrossOriginAllowed(): boolean {
    return this.#corsOrigin !== null;
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
    this.request.socket.off("close", this.#leave);
    this.#onEnd(this, end);
  }

  /** Starts an answer: `headers` are name, value, name, value, in lower case. */
  writeHead(status: number, headers: string[]): void {
    if (this.#isDraining()) this.response.shouldKeepAlive = false;
    headers.push("x-request-id", this.id);
    if (this.replica !== null) headers.push("x-llmgw-endpoint", this.replica);
    if (this.#corsOrigin !== null) headers.push(...corsHeaders(this.#corsOrigin));
    this.response.writeHead(status, headers);
  }

  /** Answers with a whole JSON body. */
  sendJson(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.response.end(this.#jsonAnswer(status, body, headers));
  }

  /** Answers with an error of the router's own and ends with `outcome`. */
  sendError(error: RouterError, outcome: Outcome = outcomeOf(error)): void {
    if (this.#isClientGone || this.#end !== null) return;
    const headers: Record<string, string> = { ...error.headers, "x-llmgw-reason": error.code };
    if (error.retryAfterSeconds !== null) headers["retry-after"] = String(error.retryAfterSeconds);
    const isUploading = this.#hasUnreadBody();
    if (isUploading) this.response.shouldKeepAlive = false;
    const body = errorBody(error, { dialect: this.dialect, requestId: this.id });
    const bytes = this.#jsonAnswer(error.status, body, headers);
    this.end({ outcome, status: error.status });
    if (isUploading) endAfterUpload(this.request, this.response, bytes);
    else this.response.end(bytes);
  }

  #jsonAnswer(status: number, body: unknown, headers: Readonly<Record<string, string>>): Buffer {
    const bytes = Buffer.from(JSON.stringify(body));
    const list = ["content-type", "application/json", "content-length", String(bytes.length)];
    for (const [name, value] of Object.entries(headers)) list.push(name, value);
    this.writeHead(status, list);
    return bytes;
  }

  #hasUnreadBody(): boolean {
    const { headers, complete } = this.request;
    return !complete && (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined);
  }

  readonly #leave = (): void => {
    if (this.#isClientGone) return;
    this.#isClientGone = true;
    this.#interrupt?.("client_closed");
    this.end({ outcome: "client_closed", status: 499 });
  };
}

/**
 * Answers a client that is still sending. It gets the whole answer at once, and time to notice: a socket that is closed with
 * unread bytes in it is reset, and the client may lose the answer with it.
 */
function endAfterUpload(request: IncomingMessage, response: ServerResponse, bytes: Buffer): void {
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  response.write(bytes);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, UPLOAD_LINGER_MS);
  request.once("end", end);
  response.once("close", () => clearTimeout(timer));
  request.resume();
}

function outcomeOf({ status, code }: RouterError): Outcome {
  if (code === "shutting_down") return "shutdown";
  if (status === 429 || status === 503) return "rejected";
  if (status === 504) return "timeout";
  return status >= 500 ? "upstream_error" : "client_error";
}
