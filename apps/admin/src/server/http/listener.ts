import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { permits } from "@llmgw/api";
import { appRouter, type ControlPlane } from "@llmgw/api/server";
import type { DiagnosticsHandler, Logger } from "@llmgw/service";
import { newId } from "@llmgw/service";
import { nodeHTTPRequestHandler } from "@trpc/server/adapters/node-http";
import type { Caller, Credentials } from "./credentials.ts";
import { crossSiteProblem } from "./cross-site.ts";
import { allowedHost } from "./hosts.ts";
import { redirect, replyError } from "./respond.ts";
import { pagePolicy, setSecurityHeaders } from "./security-headers.ts";
import { type SignInOptions, signIn } from "./sign-in.ts";

const API_PREFIX = "/api/trpc/";
/** Reports of machines with many engines are large; people's calls are not. */
const MAX_SYNC_BODY_BYTES = 32 * 1024 * 1024;
const MAX_BODY_BYTES = 1024 * 1024;

export type PageHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface ListenerOptions {
  readonly control: ControlPlane;
  readonly credentials: Credentials;
  readonly signIn: SignInOptions;
  /** `/metrics`, `/health` and `/debug/pprof/`. */
  readonly diagnostics: DiagnosticsHandler;
  readonly pages: PageHandler;
  readonly allowedHosts: ReadonlySet<string>;
  /** Aborts when the admin stops: held polls then end. */
  readonly stopping: AbortSignal;
  readonly dev: boolean;
  readonly log: Logger;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly requestId: string;
}

/** Everything the admin listener answers, in the order in which it decides. */
export function createListener(options: ListenerOptions) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const requestId = newId("req");
    setSecurityHeaders(response, requestId);
    const url = targetOf(request);
    if (!allowedHost(request.headers.host, options.allowedHosts) || url === null) {
      replyError(response, {
        status: 421,
        code: "BAD_REQUEST",
        message: `This admin does not answer under the name ${JSON.stringify(request.headers.host ?? "")}. Use its address, or add the name to LLMGW_ALLOWED_HOSTS.`,
        requestId,
      });
      return;
    }
    const exchange: Exchange = { request, response, url, requestId };
    answer(exchange, options).catch((error: unknown) => {
      options.log.error({ error, requestId, path: url.pathname }, "a request failed");
      replyError(response, {
        status: 503,
        code: "SERVICE_UNAVAILABLE",
        message: `The admin cannot answer now (request ${requestId}); its log says why. The database may be away.`,
        requestId,
      });
    });
  };
}

async function answer(exchange: Exchange, options: ListenerOptions): Promise<void> {
  const { request, response, url } = exchange;
  const { pathname } = url;
  if (pathname === "/health" && options.diagnostics(request, response)) return;
  if (pathname === "/sign-in") {
    const token = url.searchParams.get("token");
    return token === null ? await showPage(exchange, options) : await signIn({ ...exchange, token }, options.signIn);
  }
  if (pathname.startsWith("/_next/static/")) return await options.pages(request, response);

  const caller = await options.credentials.caller(request, exchange.requestId);
  if (pathname.startsWith(API_PREFIX) || isDiagnostics(pathname)) {
    const problem = caller.byCookie ? crossSiteProblem(request) : null;
    if (problem !== null) {
      request.resume();
      refuse(exchange, 403, problem);
    } else if (pathname.startsWith(API_PREFIX)) {
      await callApi(exchange, caller, options);
    } else {
      diagnose(exchange, caller, options);
    }
    return;
  }
  if (caller.actor.permission !== null && permits(caller.actor.permission, "viewer")) await showPage(exchange, options);
  else redirect(response, "/sign-in", {});
}

const isDiagnostics = (pathname: string) => pathname === "/metrics" || pathname.startsWith("/debug/");

async function callApi(exchange: Exchange, { actor }: Caller, options: ListenerOptions): Promise<void> {
  const { request, response, url, requestId } = exchange;
  const path = url.pathname.slice(API_PREFIX.length);
  const gone = new AbortController();
  response.once("close", () => gone.abort(new Error("the caller went away")));
  const signal = AbortSignal.any([gone.signal, options.stopping]);
  response.setHeader("cache-control", "no-store");
  await nodeHTTPRequestHandler({
    router: appRouter,
    req: request,
    res: response,
    path,
    maxBodySize: path.endsWith(".sync") ? MAX_SYNC_BODY_BYTES : MAX_BODY_BYTES,
    createContext: () => ({ control: options.control, actor, signal }),
    onError: ({ error, path: procedure }) => {
      if (error.code === "INTERNAL_SERVER_ERROR" && !signal.aborted) {
        options.log.error({ error: error.cause ?? error, requestId, procedure }, "a call failed");
      }
    },
  });
}

/** Metrics are for operators; profiles show memory and code, and are for admins. */
function diagnose(exchange: Exchange, { actor }: Caller, options: ListenerOptions): void {
  const needed = exchange.url.pathname === "/metrics" ? "operator" : "admin";
  if (actor.permission === null) {
    exchange.response.setHeader("www-authenticate", "Bearer");
    refuse(exchange, 401, `${exchange.url.pathname} needs the header "Authorization: Bearer" with an operator token.`);
  } else if (!permits(actor.permission, needed)) {
    refuse(exchange, 403, `${exchange.url.pathname} needs ${needed}; ${actor.name} has ${actor.permission}.`);
  } else if (!options.diagnostics(exchange.request, exchange.response)) {
    refuse(exchange, 404, `There is no page ${exchange.url.pathname}.`);
  }
}

async function showPage({ request, response }: Exchange, options: ListenerOptions): Promise<void> {
  // Next takes the nonce for its own inline scripts from this header of the request.
  const nonce = randomBytes(16).toString("base64");
  const policy = pagePolicy(nonce, options.dev);
  request.headers["content-security-policy"] = policy;
  request.headers["x-nonce"] = nonce;
  response.setHeader("content-security-policy", policy);
  await options.pages(request, response);
}

function refuse({ response, requestId }: Exchange, status: 401 | 403 | 404, message: string): void {
  const code = { 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND" }[status];
  replyError(response, { status, code, message, requestId });
}

function targetOf(request: IncomingMessage): URL | null {
  const target = `http://admin${request.url ?? ""}`;
  return request.url?.startsWith("/") === true && URL.canParse(target) ? new URL(target) : null;
}
