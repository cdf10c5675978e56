import type { IncomingMessage } from "node:http";

/**
 * Why a request that a browser sent with its session cookie is not taken; null when it is. A browser sends cookies with
 * requests that other sites make it send, so what changes something must say that it comes from our own page: by
 * `Sec-Fetch-Site`, which pages cannot forge, or by an `Origin` that is the host asked. JSON as the only content type
 * keeps plain forms out as well.
 */
export function crossSiteProblem(request: IncomingMessage): string | null {
  const site = request.headers["sec-fetch-site"];
  const own = site === "same-origin" || site === "none";
  if (request.method === "GET" || request.method === "HEAD") {
    return site === undefined || own
      ? null
      : `Sec-Fetch-Site is "${site}"; the session cookie only works on this site's own pages`;
  }
  if (!own && (site !== undefined || !originMatches(request))) {
    return `the request comes from another site (Sec-Fetch-Site ${quoted(site)}, Origin ${quoted(request.headers.origin)}); use the dashboard, or send an operator token`;
  }
  const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  return type === "application/json" ? null : `content-type is ${quoted(type)}; expected application/json`;
}

function originMatches({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  return origin !== undefined && host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}

function quoted(value: string | string[] | undefined): string {
  return value === undefined ? "absent" : `"${value}"`;
}
