import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { type DispatchEnd, EventStream } from "@llmgw/domain";
import type { Dispatcher } from "undici";
import type { Grant, ModelRoute } from "../registry/model-route.ts";
import type { RouterSettings } from "../registry/settings.ts";
import type { Timer, TimerTarget, TimerWheel } from "../upstream/timer-wheel.ts";
import { type Limit, nextLimit } from "./attempt-limits.ts";
import { errorEventStatus, isEventStream } from "./event-answer.ts";
import type { Exchange, Outcome } from "./exchange.ts";
import { answerHeaders, readRetryAfter } from "./headers.ts";
import { interruptedEvent } from "./router-error.ts";
import { transportFailure, type UpstreamFailure, upstreamFailure } from "./upstream-failure.ts";

/** How one attempt ended. Only `failed` and `refused` left the client without a byte, so only they may be retried. */
export type RelayEnd =
  | { readonly kind: "answered" }
  | {
      readonly kind: "failed";
      readonly failure: UpstreamFailure;
      /** An idle socket that the engine closed just as the request was put on it: the engine never saw it. */
      readonly isStaleSocket: boolean;
    }
  | { readonly kind: "refused"; readonly refusal: EngineRefusal };

/** An engine's own 429 or 5xx, kept back while another endpoint may do better. */
export interface EngineRefusal {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly retryAfterSeconds: number | null;
}

export interface RelayRequest {
  readonly exchange: Exchange;
  readonly route: ModelRoute;
  readonly grant: Grant;
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer;
  readonly wantsStream: boolean;
}

export interface RelayTools {
  readonly wheel: TimerWheel;
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  readonly onAttemptEnd: (kind: string) => void;
}

/** More of a refusal's body than this is not kept. */
const MAX_REFUSAL_BYTES = 1_048_576;

/**
 * The head of an event stream waits so long for the first event: an engine that dies right after its head can then still be
 * replaced by another one, and a slow one's head is passed on in time.
 */
const HEAD_HOLD_MS = 25;

type Mode = "head" | "events" | "plain" | "refusal";

/**
 * One request on one endpoint: sends it, and passes the answer on as it comes, with back-pressure. It owns the request's
 * place in the endpoint and gives it back once, whichever of the many ends comes first.
 */
export class Relay implements Dispatcher.DispatchHandler, TimerTarget {
  readonly #request: RelayRequest;
  readonly #tools: RelayTools;
  readonly #limits: RouterSettings["timeouts"];
  readonly #response: ServerResponse;
  readonly #startMs: number;
  readonly #done: Promise<RelayEnd>;
  #resolve: (end: RelayEnd) => void = () => undefined;
  #timer: Timer | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #isReusedSocket = false;
  #isSettled = false;
  #mode: Mode = "head";
  #status = 0;
  #head: IncomingHttpHeaders = {};
  #events: EventStream | null = null;
  #isHeadSent = false;
  #headAtMs = 0;
  #lastByteMs = 0;
  #lastContentMs: number | null = null;
  #pausedAtMs: number | null = null;
  #refusalBody: Buffer[] = [];
  #refusalBytes = 0;

  constructor(request: RelayRequest, tools: RelayTools) {
    this.#request = request;
    this.#tools = tools;
    this.#limits = request.route.timeouts;
    this.#response = request.exchange.response;
    this.#startMs = tools.nowMs();
    this.#done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  run(): Promise<RelayEnd> {
    const { exchange, grant, path, headers, body, wantsStream } = this.#request;
    const { endpoint } = grant;
    this.#timer = this.#tools.wheel.add(this, this.#startMs + this.#limits.connectMs);
    exchange.onInterrupt((why) => this.#interrupt(why));
    // llama-server announces keep-alive on event streams and closes after them all the same.
    const reset = wantsStream && endpoint.entry.engine === "llamacpp";
    const options = { origin: endpoint.origin, path: endpoint.basePath + path, method: "POST" as const, headers, body };
    endpoint.pool.dispatch(reset ? { ...options, reset } : options, this);
    return this.#done;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#isReusedSocket = this.#request.grant.endpoint.tookReusedSocket();
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error("the request ended before it was sent"));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isSettled || status < 200) return;
    this.#status = status;
    this.#head = headers;
    this.#headAtMs = this.#tools.nowMs();
    this.#lastByteMs = this.#headAtMs;
    if (status === 429 || status >= 500) {
      this.#mode = "refusal";
    } else if (status === 401 || status === 403) {
      this.#fail(upstreamFailure("auth", `the engine answered ${status} to the router's own key`));
    } else if (status < 400 && status >= 300) {
      this.#fail(upstreamFailure("bad_answer", `the engine answered ${status}, a redirection`));
    } else if (isEventStream(headers)) {
      this.#mode = "events";
      this.#events = new EventStream();
      this.#timer?.noLaterThan(this.#headAtMs + HEAD_HOLD_MS);
    } else {
      this.#mode = "plain";
      this.#lastContentMs = this.#headAtMs;
      this.#timer?.noLaterThan(this.#headAtMs + this.#limits.idleMs);
    }
    if (this.#isSettled) controller.abort(new Error("the engine's answer is not passed on"));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#lastByteMs = this.#tools.nowMs();
    if (this.#mode === "events") this.#readEvents(chunk);
    else if (this.#mode === "plain") this.#forward(chunk);
    else this.#keepRefusal(chunk);
    if (this.#pausedAtMs !== null) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    if (this.#mode === "events") this.#endEvents();
    else if (this.#mode === "plain") this.#endPlain();
    else this.#endRefusal();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isSettled) return;
    if (this.#events?.facts.isComplete === true) this.#endEvents();
    else this.#fail(transportFailure(error, this.#mode === "head"));
  }

  /** The next of its limits, or null once it has ended; limits that have passed are acted on. */
  onDeadline(nowMs: number): number | null {
    if (this.#isSettled) return null;
    if (this.#mode === "events" && !this.#isHeadSent && nowMs >= this.#headAtMs + HEAD_HOLD_MS) this.#sendHead();
    const limit = this.#nextLimit();
    if (nowMs < limit.atMs) return limit.atMs;
    if (limit.kind === "client_stall") this.#dropClient("client_stalled");
    else this.#fail(upstreamFailure(limit.kind, limit.message));
    return null;
  }

  #nextLimit(): Limit {
    return nextLimit(this.#limits, {
      startMs: this.#startMs,
      isConnected: this.#controller !== null,
      pausedAtMs: this.#pausedAtMs,
      wantsStream: this.#request.wantsStream,
      isEventStream: this.#mode === "events",
      lastByteMs: this.#lastByteMs,
      lastContentMs: this.#lastContentMs,
    });
  }

  #readEvents(chunk: Buffer): void {
    const events = this.#events;
    if (events === null) throw new Error("an event stream is read without a reader");
    const before = events.contentEvents;
    const whole = events.push(chunk);
    if (events.contentEvents > before) {
      this.#request.exchange.firstTokenMs ??= this.#lastByteMs;
      if (this.#lastContentMs === null) this.#timer?.noLaterThan(this.#lastByteMs + this.#limits.idleMs);
      if (this.#lastContentMs === null) this.#timer?.noLaterThan(this.#lastByteMs + this.#limits.progressMs);
      this.#lastContentMs = this.#lastByteMs;
    }
    if (whole !== null) this.#forward(whole);
  }

  #endEvents(): void {
    const events = this.#events;
    if (events === null) throw new Error("an event stream ended without a reader");
    const rest = events.flush();
    const { isComplete, errorEvent } = events.facts;
    if (!isComplete && errorEvent === null) {
      this.#fail(upstreamFailure("died", "the engine ended its stream in the middle of the answer"));
      return;
    }
    if (!this.#isHeadSent) this.#sendHead();
    if (rest === null) this.#response.end();
    else this.#response.end(rest);
    if (errorEvent === null) {
      this.#answered("ok", { kind: "success" });
      return;
    }
    const isFault = errorEventStatus(errorEvent) >= 500;
    this.#answered("upstream_error", isFault ? { kind: "failure", evidence: null } : { kind: "neutral" });
  }

  #endPlain(): void {
    if (!this.#isHeadSent) this.#sendHead();
    this.#response.end();
    if (this.#status < 400) this.#answered("ok", { kind: "success" });
    else this.#answered("client_error", { kind: "neutral" });
  }

  #keepRefusal(chunk: Buffer): void {
    this.#refusalBytes += chunk.length;
    if (this.#refusalBytes > MAX_REFUSAL_BYTES) {
      this.#fail(upstreamFailure("bad_answer", `the engine answered ${this.#status} with a very long body`));
    } else this.#refusalBody.push(chunk);
  }

  #endRefusal(): void {
    const status = this.#status;
    const retryAfterSeconds = readRetryAfter(this.#head["retry-after"], this.#tools.wallMs());
    const contentType = String(this.#head["content-type"] ?? "");
    const refusal = { status, contentType, body: Buffer.concat(this.#refusalBody), retryAfterSeconds };
    if (status === 429 || status === 503) {
      this.#settle(
        { kind: "refused", refusal },
        { kind: "backpressure", retryAfterMs: 1_000 * (retryAfterSeconds ?? 1) },
      );
      return;
    }
    // A 500 may be this request's own fault: the breaker wants to see it from another body too.
    const evidence = status === 500 ? createHash("sha256").update(this.#request.body).digest("base64") : null;
    const isFault = status === 500 || status === 502 || status === 504;
    this.#settle({ kind: "refused", refusal }, isFault ? { kind: "failure", evidence } : { kind: "neutral" });
  }

  #forward(bytes: Uint8Array): void {
    if (!this.#isHeadSent) this.#sendHead();
    if (this.#response.write(bytes) || this.#pausedAtMs !== null) return;
    this.#pausedAtMs = this.#lastByteMs;
    this.#timer?.noLaterThan(this.#lastByteMs + this.#limits.clientStallMs);
    this.#response.once("drain", () => this.#resume());
  }

  #resume(): void {
    if (this.#isSettled) return;
    this.#pausedAtMs = null;
    const nowMs = this.#tools.nowMs();
    // The engine was held up by us, not silent.
    this.#lastByteMs = nowMs;
    if (this.#lastContentMs !== null) this.#lastContentMs = nowMs;
    this.#timer?.noLaterThan(nowMs + this.#limits.idleMs);
    this.#controller?.resume();
  }

  #sendHead(): void {
    this.#isHeadSent = true;
    const { exchange } = this.#request;
    exchange.writeHead(this.#status, answerHeaders(this.#head, this.#mode === "events"));
    if (this.#mode === "events") this.#response.flushHeaders();
  }

  /** The engine failed. Before the first byte that is for the caller to mend; later the client is told as well as can be. */
  #fail(failure: UpstreamFailure): void {
    const isStaleSocket = failure.kind === "reset" && this.#isReusedSocket && this.#mode === "head";
    const end: DispatchEnd =
      isStaleSocket || failure.kind === "auth" ? { kind: "neutral" } : { kind: "failure", evidence: null };
    if (!this.#isHeadSent) {
      this.#settle({ kind: "failed", failure, isStaleSocket }, end);
      this.#abort(failure.message);
      return;
    }
    this.#breakOff(`The engine's answer broke off: ${failure.message}.`);
    this.#answered(failure.isTimeout ? "timeout" : "upstream_error", end);
    this.#abort(failure.message);
  }

  /** Ends an answer that has begun so that nobody can take it for a whole one. */
  #breakOff(message: string): void {
    const response = this.#response;
    if (this.#events === null) {
      response.destroy();
      return;
    }
    const { socket } = response;
    const separator = this.#events.isAtEventStart ? "" : "\n";
    response.end(separator + interruptedEvent(message), () => socket?.end());
  }

  #interrupt(why: "client_closed" | "shutdown"): void {
    if (this.#isSettled) return;
    if (why === "client_closed") {
      this.#settle({ kind: "answered" }, { kind: "neutral" });
      this.#abort("the client left");
    } else if (this.#isHeadSent) {
      this.#breakOff("The router is shutting down.");
      this.#answered("shutdown", { kind: "neutral" });
      this.#abort("the router is shutting down");
    } else {
      this.#settle(
        { kind: "failed", failure: upstreamFailure("shutdown", "the router is shutting down"), isStaleSocket: false },
        { kind: "neutral" },
      );
      this.#abort("the router is shutting down");
    }
  }

  #dropClient(outcome: Outcome): void {
    const { exchange } = this.#request;
    exchange.end({ outcome, status: this.#status });
    this.#settle({ kind: "answered" }, { kind: "neutral" });
    this.#response.destroy();
    this.#abort("the client does not read");
  }

  #answered(outcome: Outcome, end: DispatchEnd): void {
    this.#request.exchange.end({ outcome, status: this.#status });
    this.#settle({ kind: "answered" }, end);
  }

  #settle(end: RelayEnd, dispatchEnd: DispatchEnd): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { exchange, grant, route } = this.#request;
    this.#timer?.cancel();
    if (!exchange.isEnded) exchange.onInterrupt(null);
    grant.dispatch.end(dispatchEnd, this.#tools.nowMs());
    this.#tools.onAttemptEnd(dispatchEnd.kind);
    this.#resolve(end);
    route.pump();
  }

  #abort(message: string): void {
    this.#controller?.abort(new Error(message));
  }
}
