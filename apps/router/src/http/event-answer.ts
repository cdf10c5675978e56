import type { IncomingHttpHeaders } from "node:http";

export function isEventStream(headers: IncomingHttpHeaders): boolean {
  return headers["content-type"]?.toLowerCase().startsWith("text/event-stream") === true;
}

/** The code of an engine's error event, 500 where it has none that is a number. */
export function errorEventStatus(json: Uint8Array): number {
  try {
    const event: unknown = JSON.parse(Buffer.from(json).toString("utf8"));
    const error = typeof event === "object" && event !== null && "error" in event ? event.error : null;
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
    return typeof code === "number" ? code : 500;
  } catch {
    return 500; // not even JSON: an engine in trouble
  }
}
