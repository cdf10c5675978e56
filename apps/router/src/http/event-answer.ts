import type { IncomingHttpHeaders } from "node:http";

/** True for an answer to be read as events; one that is compressed passes through unread. */
export function isEventStream(headers: IncomingHttpHeaders): boolean {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding !== "identity") return false;
  return headers["content-type"]?.toLowerCase().startsWith("text/event-stream") === true;
}

/**
 * True for a JSON answer that ended with its connection, nothing having said how long it is, and does not end like JSON: the
 * engine died, though on the wire that looks like a good end. `lastByte`: its last one that is not white space.
 */
export function mayBeCutOff(headers: IncomingHttpHeaders, lastByte: number | null): boolean {
  if (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined) return false;
  if (headers["content-encoding"] !== undefined) return false;
  const isJson = headers["content-type"]?.toLowerCase().startsWith("application/json") === true;
  return isJson && lastByte !== CLOSE_OBJECT && lastByte !== CLOSE_ARRAY;
}

/** The HTTP status that an engine's error event stands for, 500 where it has none. */
export function errorEventStatus(json: Uint8Array): number {
  let event: unknown;
  try {
    event = JSON.parse(Buffer.from(json).toString("utf8"));
  } catch {
    return 500; // not even JSON: an engine in trouble
  }
  const error = field(event, "error") ?? field(field(event, "response"), "error") ?? event;
  const code = field(error, "code");
  if (typeof code === "number") return code;
  return STATUS_BY_NAME[String(code)] ?? STATUS_BY_NAME[String(field(error, "type"))] ?? 500;
}

const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;

/** Names that the dialects use for what is the client's own doing, or a matter of load. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_prompt: 400,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
};

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name) ?? undefined;
}
