import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from "node:zlib";
import { BodyScan, type ByteSpan } from "@llmgw/domain";
import type { TimerWheel } from "../upstream/timer-wheel.ts";
import type { Exchange } from "./exchange.ts";
import { type RouterError, routerError, shown } from "./router-error.ts";

/** Steps small enough that a scan never holds up other streams noticeably (about 1 ms each). */
const SCAN_STEP_BYTES = 524_288;

const UPLOAD_BYTES_PER_MS = 1_048.576; // the time limit grows by a second for each MiB

const decoders: Readonly<Record<string, (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>>> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
  br: promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress),
};

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
  if (coding !== null && decoders[coding] === undefined) {
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
  const decode = decoders[coding];
  if (decode === undefined) throw new Error(`no decoder for ${coding}, which refuseByHead should have refused`);
  try {
    const bytes = await decode(received.bytes, { maxOutputLength: options.maxBytes });
    if (!options.reserve(bytes.length)) return refused(overloaded());
    return exchange.isClientGone ? { kind: "left" } : { kind: "ok", bytes };
  } catch (error) {
    const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    if (isTooLarge) return refused(tooLarge(options.maxBytes));
    return refused(routerError("invalid_request_error", `The body is not valid ${coding} data.`));
  }
}

export type RequestReading =
  | { readonly kind: "ok"; readonly model: string; readonly modelSpan: ByteSpan; readonly stream: boolean }
  | { readonly kind: "refused"; readonly error: RouterError };

/** Reads the model and whether a stream is wanted from a JSON body, and checks that it is JSON to its end. */
export async function scanBody(bytes: Buffer): Promise<RequestReading> {
  if (!isUtf8(bytes)) return refused(routerError("invalid_request_error", "The body is not valid UTF-8."));
  const scan = new BodyScan(bytes);
  let result = scan.step(SCAN_STEP_BYTES);
  while (result === null) {
    await new Promise((resolve) => setImmediate(resolve));
    result = scan.step(SCAN_STEP_BYTES);
  }
  if (result.kind === "invalid") {
    return refused(routerError("invalid_request_error", sentence(result.message), { param: result.param }));
  }
  const { model, stream } = result;
  const name: unknown = JSON.parse(bytes.toString("utf8", model.start, model.end));
  if (typeof name !== "string") throw new Error("the body scan took something for a string that is none");
  return { kind: "ok", model: name, modelSpan: model, stream };
}

function receive(exchange: Exchange, options: ReadBodyOptions): Promise<BodyReading> {
  const { request } = exchange;
  const { maxBytes, uploadMs, wheel, nowMs, reserve } = options;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const startMs = nowMs();
    const deadlineMs = () => startMs + uploadMs + size / UPLOAD_BYTES_PER_MS;
    const settle = (reading: BodyReading) => {
      timer.cancel();
      exchange.onInterrupt(null);
      request.off("data", onData);
      request.off("end", onEnd);
      resolve(reading);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) settle(refused(tooLarge(maxBytes)));
      else if (!reserve(chunk.length)) settle(refused(overloaded()));
      else chunks.push(chunk);
    };
    const onEnd = () => {
      const [only] = chunks;
      settle({ kind: "ok", bytes: chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size) });
    };
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

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
