import type { IncomingMessage, ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { type Clock, systemClock } from "../clock.ts";
import { secretsEqual } from "../secrets.ts";
import { createPprofRoutes, PPROF_PREFIX } from "./pprof-routes.ts";
import { type Answer, json, problem, send } from "./respond.ts";

export interface Health {
  readonly status: "ok" | "not_ready";
  /** Whatever else helps an operator; it is sent as it is. */
  readonly [detail: string]: unknown;
}

export interface DiagnosticsOptions {
  readonly registry: Registry;
  /** Asked on each `GET /health`; `ok` answers 200, `not_ready` 503. */
  readonly health: () => Health;
  readonly version: string;
  /** When set, every route but /health wants `Authorization: Bearer <token>`. */
  readonly token?: string | undefined;
  /** Further JSON pages by path, such as `/debug/endpoints`, under the same token. */
  readonly pages?: Readonly<Record<string, () => unknown>>;
  readonly clock?: Clock;
  /** What `/debug/pprof/cmdline` shows, with credentials replaced. */
  readonly argv?: readonly string[];
}

/** Answers a request if it is one of the diagnostics routes, and says whether it was (true: the response is taken). */
export type DiagnosticsHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * The routes every program offers to its operators: `/metrics` (Prometheus text), `/health`, `/debug/pprof/…` and the
 * program's own pages. Any other `/debug/…` path is a JSON 404; all else is left to the caller.
 */
export function createDiagnosticsHandler(options: DiagnosticsOptions): DiagnosticsHandler {
  const { registry, health, version, token, pages = {}, clock = systemClock, argv = process.argv } = options;
  const pprof = createPprofRoutes({ clock, argv });

  const answer = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<Answer> => {
    const { pathname } = url;
    const isSymbolLookup = request.method === "POST" && pathname === `${PPROF_PREFIX}symbol`;
    if (request.method !== "GET" && request.method !== "HEAD" && !isSymbolLookup) {
      return problem(405, `${request.method} is not possible on ${pathname}: expected GET`, { allow: "GET, HEAD" });
    }
    if (pathname === "/health") {
      const state = health();
      return json(state.status === "ok" ? 200 : 503, { ...state, version });
    }
    if (token !== undefined && !hasBearer(request, token)) {
      return problem(401, `${pathname} needs the header "Authorization: Bearer" with the diagnostics token`, {
        "www-authenticate": "Bearer",
      });
    }
    if (pathname === "/metrics") {
      return { status: 200, body: await registry.metrics(), headers: { "content-type": registry.contentType } };
    }
    const page = Object.hasOwn(pages, pathname) ? pages[pathname] : undefined;
    if (page !== undefined) return json(200, await page());
    if (`${pathname}/` === PPROF_PREFIX) return { status: 301, body: "", headers: { location: PPROF_PREFIX } };
    if (pathname.startsWith(PPROF_PREFIX)) return await pprof(request, response, url);
    return problem(404, `no such page: ${pathname}`);
  };

  return (request, response) => {
    const url = pathOf(request);
    if (url === undefined || !isDiagnostics(url.pathname, pages)) return false;
    request.resume();
    void answer(request, response, url).then(
      (done) => send(response, done),
      (error: unknown) => send(response, problem(500, `this page failed: ${messageOf(error)}`)),
    );
    return true;
  };
}

function isDiagnostics(pathname: string, pages: Readonly<Record<string, unknown>>): boolean {
  const isOwn = pathname === "/metrics" || pathname === "/health" || pathname.startsWith("/debug/");
  return isOwn || Object.hasOwn(pages, pathname);
}

function pathOf(request: IncomingMessage): URL | undefined {
  const target = `http://diagnostics${request.url ?? ""}`;
  return request.url?.startsWith("/") === true && URL.canParse(target) ? new URL(target) : undefined;
}

function hasBearer(request: IncomingMessage, token: string): boolean {
  const [scheme = "", given = ""] = (request.headers.authorization ?? "").split(" ", 2);
  return scheme.toLowerCase() === "bearer" && secretsEqual(given, token);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
