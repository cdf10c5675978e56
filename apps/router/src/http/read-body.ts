import type { TimerWheel } from "../upstream/timer-wheel.ts";
import { decodeBody, isKnownCoding } from "./decode-body.ts";
import type { Exchange } from "./exchange.ts";
import { type RouterError, routerError, shown } from "./router-error.ts";

const UPLOAD_BYTES_PER_MS = 1_048.576; // the time limit grows by a second for each MiB

/** From here on a body of declared length is written into one buffer as it comes, not put together at its end. */
const PREPARE_FROM_BYTES = 131_072;

export type BodyReading =
  | { readonly kind: "ok"; readonly bytes: Buffer }
  | { readonly kind: "refused"; readonly error: RouterError }
  | { readonly kind: "left" };

export interface ReadBodyOptions {
  readonly maxBytes: number;
  readonly uploadMs: number;
  readonly wheel: TimerWheel;
  readonly nowMs: () => number;
  /** Asked to hold so many bytes more; false when the memory for bodies is used up. */
  readonly reserve: (bytes: number) => boolean;
}

/** What can be said against a request from its head alone: too large, or coded in a way nobody here reads. */
export function refuseByHead(exchange: Exchange, maxBytes: number): RouterError | null {
  const { headers } = exchange.request;
  const coding = codingOf(exchange);
  if (coding !== null && !isKnownCoding(coding)) {
    return routerError(
      "unsupported_encoding",
      `The body is coded as ${shown(coding)}: expected gzip, deflate, br or none.`,
    );
  }
  const declared = Number(headers["content-length"] ?? 0);
  return declared > maxBytes ? tooLarge(maxBytes) : null;
}

/** Reads a request's body whole, within its limits of size and time, and decodes it. */
export async function readBody(exchange: Exchange, options: ReadBodyOptions): Promise<BodyReading> {
  const coding = codingOf(exchange);
  if (exchange.request.headers.expect !== undefined) exchange.response.writeContinue();
  const received = await receive(exchange, options);
  if (received.kind !== "ok" || coding === null) return received;
  const { maxBytes, reserve } = options;
  const decoding = await decodeBody(received.bytes, { coding, maxBytes, reserve });
  if (exchange.isClientGone) return { kind: "left" };
  switch (decoding.kind) {
    case "ok":
      return decoding;
    case "too_large":
      return refused(tooLarge(maxBytes));
    case "no_memory":
      return refused(overloaded());
    case "invalid":
      return refused(routerError("invalid_request_error", `The body is not valid ${coding} data.`));
  }
}

/** Takes a body in, in one piece however it comes. */
class Collector {
  readonly #parts: Buffer[] = [];
  #whole: Buffer | null;
  #size = 0;

  constructor(declaredBytes: number) {
    this.#whole = declaredBytes < PREPARE_FROM_BYTES ? null : Buffer.allocUnsafeSlow(declaredBytes);
  }

  get size(): number {
    return this.#size;
  }

  add(chunk: Buffer): void {
    if (this.#whole === null) this.#parts.push(chunk);
    else chunk.copy(this.#whole, this.#size);
    this.#size += chunk.length;
  }

  bytes(): Buffer {
    if (this.#whole !== null) return this.#whole.subarray(0, this.#size);
    const [only] = this.#parts;
    return this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts, this.#size);
  }
}

function receive(exchange: Exchange, options: ReadBodyOptions): Promise<BodyReading> {
  const { request } = exchange;
  const { maxBytes, uploadMs, wheel, nowMs, reserve } = options;
  return new Promise((resolve) => {
    const body = new Collector(Number(request.headers["content-length"] ?? 0));
    const startMs = nowMs();
    const deadlineMs = () => startMs + uploadMs + body.size / UPLOAD_BYTES_PER_MS;
    const settle = (reading: BodyReading) => {
      timer.cancel();
      exchange.onInterrupt(null);
      request.off("data", onData);
      request.off("end", onEnd);
      resolve(reading);
    };
    const onData = (chunk: Buffer) => {
      if (body.size + chunk.length > maxBytes) settle(refused(tooLarge(maxBytes)));
      else if (!reserve(chunk.length)) settle(refused(overloaded()));
      else body.add(chunk);
    };
    const onEnd = () => settle({ kind: "ok", bytes: body.bytes() });
    const timer = wheel.add(
      {
        onDeadline: (atMs) => {
          if (atMs < deadlineMs()) return deadlineMs();
          settle(refused(routerError("upload_timeout", "The body took too long to arrive.")));
          return null;
        },
      },
      deadlineMs(),
    );
    exchange.onInterrupt((why) => {
      if (why === "client_closed") settle({ kind: "left" });
      else settle(refused(routerError("shutting_down", "The router is shutting down.", { retryAfterSeconds: 1 })));
    });
    request.on("data", onData);
    request.on("end", onEnd);
    request.on("error", ignore); // an upload that breaks off is seen as the client leaving
    if (exchange.isClientGone) settle({ kind: "left" });
  });
}

function ignore(): void {
  // handled by whoever watches the response
}

function codingOf(exchange: Exchange): string | null {
  const coding = exchange.request.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  return coding === "" || coding === "identity" ? null : coding;
}

function tooLarge(maxBytes: number): RouterError {
  return routerError("request_too_large", `The body is larger than ${maxBytes} bytes, the limit of this API.`);
}

function overloaded(): RouterError {
  return routerError("overloaded", "The router holds as many request bodies as it may.", { retryAfterSeconds: 1 });
}

function refused(error: RouterError): { readonly kind: "refused"; readonly error: RouterError } {
  return { kind: "refused", error };
}
