import type { IncomingHttpHeaders } from "node:http";

/** Headers that a page may read of an answer. */
const EXPOSED = "x-request-id, x-llmgw-reason, x-llmgw-endpoint, retry-after";

const MAX_AGE_SECONDS = "600";

/** The origin of a request if pages from there may use this API (`origins`, `*` for all); null for any other. */
export function allowedOrigin(headers: IncomingHttpHeaders, origins: readonly string[]): string | null {
  const { origin } = headers;
  if (origins.length === 0 || origin === undefined) return null;
  return origins.includes("*") || origins.includes(origin) ? origin : null;
}

/** Headers of every answer to an allowed origin, errors too: without them a browser hides the answer. */
export function corsHeaders(origin: string): string[] {
  return ["access-control-allow-origin", origin, "vary", "origin", "access-control-expose-headers", EXPOSED];
}

/** Further headers of the answer to a preflight. Names of headers a page wants to send are echoed. */
export function preflightHeaders(headers: IncomingHttpHeaders, allow: string): string[] {
  const list = ["access-control-allow-methods", allow, "access-control-max-age", MAX_AGE_SECONDS];
  const wanted = headers["access-control-request-headers"];
  if (wanted !== undefined) list.push("access-control-allow-headers", wanted);
  return list;
}
