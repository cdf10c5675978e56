import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { DispatchEnd } from "@llmgw/domain";
import { readRetryAfter } from "./headers.ts";

/** An engine's own 429 or 5xx, kept back while another endpoint may do better. */
export interface EngineRefusal {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly retryAfterSeconds: number | null;
}

/** More of a refusal's body than this is not kept. */
const MAX_BYTES = 1_048_576;

/** Collects an engine's refusal. */
export class RefusalReader {
  readonly #status: number;
  readonly #head: IncomingHttpHeaders;
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  constructor(status: number, head: IncomingHttpHeaders) {
    this.#status = status;
    this.#head = head;
  }

  /** False once the body is longer than anybody's refusal. */
  push(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    this.#parts.push(chunk);
    return this.#bytes <= MAX_BYTES;
  }

  /** `wallMs`: milliseconds since the epoch, for a Retry-After that is a date. */
  refusal(wallMs: number): EngineRefusal {
    return {
      status: this.#status,
      contentType: String(this.#head["content-type"] ?? ""),
      body: Buffer.concat(this.#parts),
      retryAfterSeconds: readRetryAfter(this.#head["retry-after"], wallMs),
    };
  }
}

/** True for an answer that is kept back: an engine that is full, or in trouble. */
export function isRefusal(status: number): boolean {
  return status === 429 || status >= 500;
}

/** What a refusal says about the engine that gave it to a request with this body. */
export function judgeRefusal({ status, retryAfterSeconds }: EngineRefusal, requestBody: Buffer): DispatchEnd {
  if (status === 429 || status === 503) return { kind: "backpressure", retryAfterMs: 1_000 * (retryAfterSeconds ?? 1) };
  if (status === 502 || status === 504) return { kind: "failure", evidence: null };
  if (status !== 500) return { kind: "neutral" };
  // A 500 may be this request's own fault: the breaker wants to see it from another body too.
  return { kind: "failure", evidence: createHash("sha256").update(requestBody).digest("base64") };
}
