import type { IncomingHttpHeaders } from "node:http";

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Visible ASCII without quotes and backslashes: safe in a header, a log line and a metrics label alike. */
const REQUEST_ID = /^[\x21\x23-\x26\x28-\x5b\x5d-\x7e]{1,128}$/;

/** Headers by which clients say which version of a dialect they speak. */
const DIALECT_HEADERS = ["anthropic-version", "anthropic-beta"] as const;

/** Headers of an engine's answer that reach the client. Everything about the connection is made anew. */
const ANSWER_HEADERS = [
  "content-type",
  "content-encoding",
  "content-language",
  "content-disposition",
  "cache-control",
] as const;

/** The id a client gave its request, if it is a sane one. */
export function clientRequestId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers["x-request-id"];
  return typeof id === "string" && REQUEST_ID.test(id) ? id : undefined;
}

/**
 * What an engine gets to see of a request's head: an allow-list, so that no key, cookie or internal header of a client
 * ever reaches it. Framing and Host are undici's.
 */
export function engineHeaders(
  headers: IncomingHttpHeaders,
  { requestId, apiKey }: { requestId: string; apiKey: string | null },
): string[] {
  const list = ["content-type", headers["content-type"] ?? "application/json", "x-request-id", requestId];
  if (headers.accept !== undefined) list.push("accept", headers.accept);
  for (const name of DIALECT_HEADERS) {
    const value = headers[name];
    if (value !== undefined) list.push(name, one(value));
  }
  const { traceparent, tracestate } = headers;
  if (typeof traceparent === "string" && TRACEPARENT.test(traceparent)) {
    list.push("traceparent", traceparent);
    if (typeof tracestate === "string") list.push("tracestate", tracestate);
  }
  if (apiKey !== null) list.push("authorization", `Bearer ${apiKey}`);
  return list;
}

/** Headers for the client of an engine's answer, with the length where the bytes pass through as they are. */
export function answerHeaders(headers: IncomingHttpHeaders, isEventStream: boolean): string[] {
  const list: string[] = [];
  for (const name of ANSWER_HEADERS) {
    const value = headers[name];
    if (value !== undefined && !(isEventStream && name === "cache-control")) list.push(name, one(value));
  }
  if (isEventStream) list.push("cache-control", "no-cache, no-transform", "x-accel-buffering", "no");
  else if (headers["content-length"] !== undefined) list.push("content-length", one(headers["content-length"]));
  return list;
}

/** The query of a request's target for the engine: as given, without an `api_key` that a client put there. */
export function engineQuery(target: string): string {
  const at = target.indexOf("?");
  if (at === -1) return "";
  const kept = target
    .slice(at + 1)
    .split("&")
    .filter((part) => !/^api[_-]?key(?:=|$)/i.test(part));
  return kept.length === 0 ? "" : `?${kept.join("&")}`;
}

/** Seconds of a Retry-After header, given as a number or as a date; null where there is none that makes sense. */
export function readRetryAfter(value: string | string[] | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const text = one(value);
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - nowMs) / 1_000));
}

function one(value: string | string[]): string {
  return typeof value === "string" ? value : (value[0] ?? "");
}
