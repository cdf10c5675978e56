import type { IncomingHttpHeaders } from "node:http";
import { type DispatchEnd, EventStream } from "@llmgw/domain";
import type { Dispatcher } from "undici";
import type { Grant, ModelRoute } from "../registry/model-route.ts";
import type { RouterSettings } from "../registry/settings.ts";
import type { Timer, TimerTarget, TimerWheel } from "../upstream/timer-wheel.ts";
import { AnswerTail, usageOfEvents } from "./answer-usage.ts";
import { type Limit, nextLimit } from "./attempt-limits.ts";
import { ClientAnswer } from "./client-answer.ts";
import { errorEventStatus, isEventStream, mayBeCutOff } from "./event-answer.ts";
import type { Exchange, Outcome } from "./exchange.ts";
import { withoutUsageEvents } from "./hide-usage.ts";
import { type EngineRefusal, isRefusal, judgeRefusal, RefusalReader } from "./refusal.ts";
import { blameOf, transportFailure, type UpstreamFailure, upstreamFailure } from "./upstream-failure.ts";

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

export interface RelayRequest {
  readonly exchange: Exchange;
  readonly route: ModelRoute;
  readonly grant: Grant;
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer;
  readonly wantsStream: boolean;
  readonly hidesUsage: boolean;
}

export interface RelayTools {
  readonly wheel: TimerWheel;
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  readonly onAttemptEnd: (kind: string) => void;
}

/**
 * The head of an event stream waits so long for the first event: an engine that dies right after its head can then still be
 * replaced by another one, and a slow one's head is passed on in time.
 */
const HEAD_HOLD_MS = 25;

/** What the engine's answer turned out to be, with whoever reads it; `head`: it has not begun. */
type Answer =
  | { readonly kind: "head" }
  | { readonly kind: "events"; readonly events: EventStream }
  | { readonly kind: "plain"; readonly tail: AnswerTail }
  | { readonly kind: "refusal"; readonly reader: RefusalReader };

/**
 * One request on one endpoint: sends it, and passes the answer on as it comes, with back-pressure. It owns the request's
 * place in the endpoint and gives it back once, whichever of the many ends comes first.
 */
export class Relay implements Dispatcher.DispatchHandler, TimerTarget {
  readonly #request: RelayRequest;
  readonly #tools: RelayTools;
  readonly #limits: RouterSettings["timeouts"];
  readonly #client: ClientAnswer;
  readonly #startMs: number;
  readonly #done: Promise<RelayEnd>;
  #resolve: (end: RelayEnd) => void = () => undefined;
  #timer: Timer | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #isReusedSocket = false;
  #isSettled = false;
  #answer: Answer = { kind: "head" };
  #status = 0;
  #head: IncomingHttpHeaders = {};
  #headAtMs = 0;
  #lastByteMs = 0;
  #lastContentMs: number | null = null;
  #pausedAtMs: number | null = null;

  constructor(request: RelayRequest, tools: RelayTools) {
    this.#request = request;
    this.#tools = tools;
    this.#limits = request.route.timeouts;
    this.#client = new ClientAnswer(request.exchange, () => this.#resume());
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
    this.#begin(status, headers);
    if (this.#isSettled) controller.abort(new Error("the engine's answer is not passed on"));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#lastByteMs = this.#tools.nowMs();
    const answer = this.#answer;
    if (answer.kind === "events") this.#readEvents(answer.events, chunk);
    else if (answer.kind === "plain") {
      answer.tail.push(chunk);
      this.#forward(chunk);
    } else if (answer.kind === "refusal" && !answer.reader.push(chunk)) {
      this.#fail(upstreamFailure("bad_answer", `the engine answered ${this.#status} with a very long body`));
    }
    if (this.#pausedAtMs !== null) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    const answer = this.#answer;
    if (answer.kind === "events") this.#endEvents(answer.events);
    else if (answer.kind === "plain") this.#endPlain(answer.tail);
    else if (answer.kind === "refusal") this.#endRefusal(answer.reader);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isSettled) return;
    const answer = this.#answer;
    if (answer.kind === "events" && answer.events.isComplete) this.#endEvents(answer.events);
    else this.#fail(transportFailure(error, answer.kind === "head"));
  }

  /** The next of its limits, or null once it has ended; limits that have passed are acted on. */
  onDeadline(nowMs: number): number | null {
    if (this.#isSettled) return null;
    const isHeld = this.#answer.kind === "events" && !this.#client.isHeadSent;
    if (isHeld && nowMs >= this.#headAtMs + HEAD_HOLD_MS) this.#sendHead();
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
      isEventStream: this.#answer.kind === "events",
      lastByteMs: this.#lastByteMs,
      lastContentMs: this.#lastContentMs,
    });
  }

  #begin(status: number, headers: IncomingHttpHeaders): void {
    if (isRefusal(status)) {
      this.#answer = { kind: "refusal", reader: new RefusalReader(status, headers) };
    } else if (status === 401 || status === 403) {
      this.#fail(upstreamFailure("auth", `the engine answered ${status} to the router's own key`));
    } else if (status < 400 && status >= 300) {
      this.#fail(upstreamFailure("bad_answer", `the engine answered ${status}, a redirection`));
    } else if (isEventStream(headers)) {
      this.#answer = { kind: "events", events: new EventStream() };
      this.#timer?.noLaterThan(this.#headAtMs + HEAD_HOLD_MS);
    } else {
      this.#answer = { kind: "plain", tail: new AnswerTail() };
      this.#lastContentMs = this.#headAtMs;
      this.#timer?.noLaterThan(this.#headAtMs + this.#limits.idleMs);
    }
  }

  #readEvents(events: EventStream, chunk: Buffer): void {
    const before = events.contentEvents;
    const whole = events.push(chunk);
    if (events.contentEvents > before) {
      if (this.#lastContentMs === null) {
        this.#request.exchange.firstTokenMs ??= this.#lastByteMs;
        this.#timer?.noLaterThan(this.#lastByteMs + Math.min(this.#limits.idleMs, this.#limits.progressMs));
      }
      this.#lastContentMs = this.#lastByteMs;
    }
    const shown = this.#shown(whole);
    if (shown !== null) this.#forward(shown);
  }

  #endEvents(events: EventStream): void {
    const rest = this.#shown(events.flush());
    const { isComplete, errorEvent } = events.facts;
    if (!isComplete && errorEvent === null) {
      this.#fail(upstreamFailure("died", "the engine ended its stream in the middle of the answer"));
      return;
    }
    if (!this.#client.isHeadSent) this.#sendHead();
    if (errorEvent === null) this.#finish("ok", { kind: "success" });
    else {
      const isFault = errorEventStatus(errorEvent) >= 500;
      this.#finish("upstream_error", isFault ? { kind: "failure", evidence: null } : { kind: "neutral" });
    }
    this.#client.end(rest);
  }

  /** What of whole events is for the client. */
  #shown(bytes: Uint8Array | null): Uint8Array | null {
    return bytes !== null && this.#request.hidesUsage ? withoutUsageEvents(bytes) : bytes;
  }

  #endPlain(tail: AnswerTail): void {
    if (mayBeCutOff(this.#head, tail.lastByte)) {
      this.#fail(upstreamFailure("died", "the engine ended its answer in the middle of its JSON"));
      return;
    }
    if (!this.#client.isHeadSent) this.#sendHead();
    if (this.#status < 400) this.#finish("ok", { kind: "success" });
    else this.#finish("client_error", { kind: "neutral" });
    this.#client.end(null);
  }

  #endRefusal(reader: RefusalReader): void {
    const refusal = reader.refusal(this.#tools.wallMs());
    this.#settle({ kind: "refused", refusal }, judgeRefusal(refusal, this.#request.body));
  }

  #forward(bytes: Uint8Array): void {
    if (!this.#client.isHeadSent) this.#sendHead();
    if (this.#client.write(bytes) || this.#pausedAtMs !== null) return;
    this.#pausedAtMs = this.#lastByteMs;
    this.#timer?.noLaterThan(this.#lastByteMs + this.#limits.clientStallMs);
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
    this.#client.sendHead(this.#status, this.#head, this.#answer.kind === "events");
  }

  /** The engine failed. Before the first byte that is for the caller to mend; later the client is told as well as can be. */
  #fail(failure: UpstreamFailure): void {
    const isStaleSocket = failure.kind === "reset" && this.#isReusedSocket;
    const end: DispatchEnd = isStaleSocket ? { kind: "neutral" } : blameOf(failure);
    if (this.#client.isHeadSent) {
      this.#finish(failure.isTimeout ? "timeout" : "upstream_error", end);
      this.#breakOff(`The engine's answer broke off: ${failure.message}.`);
    } else this.#settle({ kind: "failed", failure, isStaleSocket }, end);
    this.#abort(failure.message);
  }

  /** Ends an answer that has begun so that nobody can take it for a whole one. */
  #breakOff(message: string): void {
    if (this.#answer.kind !== "events") {
      this.#client.destroy();
      return;
    }
    const { dataLines, isBetweenEvents } = this.#answer.events;
    this.#client.interrupt(message, { sequence: dataLines, isBetweenEvents });
  }

  #interrupt(why: "client_closed" | "shutdown"): void {
    if (this.#isSettled) return;
    if (why === "client_closed") {
      this.#noteUsage();
      this.#settle({ kind: "answered" }, { kind: "neutral" });
      this.#abort("the client left");
      return;
    }
    const failure = upstreamFailure("shutdown", "the router is shutting down");
    if (this.#client.isHeadSent) {
      this.#finish("shutdown", { kind: "neutral" });
      this.#breakOff("The router is shutting down.");
    } else this.#settle({ kind: "failed", failure, isStaleSocket: false }, { kind: "neutral" });
    this.#abort(failure.message);
  }

  #dropClient(outcome: Outcome): void {
    this.#finish(outcome, { kind: "neutral" });
    this.#client.destroy();
    this.#abort("the client does not read");
  }

  /** The exchange ends before its last byte is written: what is recorded of it is then there when the client has it all. */
  #finish(outcome: Outcome, end: DispatchEnd): void {
    this.#noteUsage();
    this.#request.exchange.end({ outcome, status: this.#status });
    this.#settle({ kind: "answered" }, end);
  }

  #noteUsage(): void {
    const { exchange } = this.#request;
    if (this.#answer.kind === "events") {
      exchange.contentEvents = this.#answer.events.contentEvents;
      exchange.lastTokenMs = this.#lastContentMs;
      exchange.usage = usageOfEvents(this.#answer.events.usageEvents);
    } else if (this.#answer.kind === "plain") exchange.usage = this.#answer.tail.usage();
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
