import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { BodyScan, type ByteSpan, MultipartScan, multipartBoundary } from "@llmgw/domain";
import { type RouterError, routerError } from "./router-error.ts";
import type { InferenceApi } from "./routes.ts";

/** Steps small enough that a scan never holds up other streams noticeably (about 1 ms each). */
const STEP_BYTES = 524_288;

export type RequestReading =
  | {
      readonly kind: "ok";
      readonly model: string;
      /** The bytes that an alias's real name replaces. */
      readonly modelSpan: ByteSpan;
      readonly stream: boolean;
      /** Where the prompt, and what names the session, stand in the body. */
      readonly prompt: ByteSpan | null;
      readonly session: ByteSpan | null;
    }
  | { readonly kind: "refused"; readonly error: RouterError };

/** Reads which model a body wants and whether as a stream, and checks that it is whole. The body itself stays as it is. */
export async function scanRequest(
  bytes: Buffer,
  { api, headers }: { api: InferenceApi; headers: IncomingHttpHeaders },
): Promise<RequestReading> {
  return api.body === "json" ? await scanJson(bytes) : await scanForm(bytes, headers["content-type"] ?? "");
}

/** The body with another name for its model: those bytes change, and no others. */
export function withModel(bytes: Buffer, { modelSpan }: { modelSpan: ByteSpan }, name: string): Buffer {
  return Buffer.concat([bytes.subarray(0, modelSpan.start), Buffer.from(name), bytes.subarray(modelSpan.end)]);
}

async function scanJson(bytes: Buffer): Promise<RequestReading> {
  if (!(await isWholeUtf8(bytes))) return refused("The body is not valid UTF-8.", null);
  const scan = new BodyScan(bytes);
  let result = scan.step(STEP_BYTES);
  while (result === null) {
    await nextTurn();
    result = scan.step(STEP_BYTES);
  }
  if (result.kind === "invalid") return refused(sentence(result.message), result.param);
  const { model, stream, prompt, session } = result;
  const name: unknown = JSON.parse(bytes.toString("utf8", model.start, model.end));
  if (typeof name !== "string") throw new Error("the body scan took something for a string that is none");
  return { kind: "ok", model: name, modelSpan: model, stream, prompt, session };
}

async function scanForm(bytes: Buffer, contentType: string): Promise<RequestReading> {
  const boundary = multipartBoundary(contentType);
  if (boundary === null) {
    return refused('This path takes a form: expected content-type "multipart/form-data" with its boundary.', null);
  }
  const scan = new MultipartScan(bytes, boundary);
  let result = scan.step(STEP_BYTES);
  while (result === null) {
    await nextTurn();
    result = scan.step(STEP_BYTES);
  }
  if (result.kind === "invalid") return refused(sentence(result.message), result.param);
  const { model, stream } = result;
  const name = bytes.toString("utf8", model.start, model.end);
  return { kind: "ok", model: name, modelSpan: model, stream, prompt: null, session: null };
}

/** Checks a large body in steps too, cut between characters. */
async function isWholeUtf8(bytes: Buffer): Promise<boolean> {
  if (bytes.length <= STEP_BYTES) return isUtf8(bytes);
  let start = 0;
  while (start < bytes.length) {
    let end = Math.min(bytes.length, start + STEP_BYTES);
    // At most three bytes back: what is no character at all is found to be none in its own step.
    for (let back = 0; back < 3 && end < bytes.length && isContinuation(bytes[end]); back += 1) end -= 1;
    if (!isUtf8(bytes.subarray(start, end))) return false;
    start = end;
    await nextTurn();
  }
  return true;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function refused(message: string, param: string | null): RequestReading {
  return { kind: "refused", error: routerError("invalid_request_error", message, { param }) };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
