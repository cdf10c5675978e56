import type { Server } from "node:http";
import { createHttpServer, type HttpExchange, httpRoutes, sendJson } from "../../http/http-server.ts";
import { sendError, statusError } from "./errors.ts";
import type { ServerState } from "./server-state.ts";

/** A path with its method and what answers it. */
export type ServingRoute = readonly [
  method: string,
  path: string,
  handler: (exchange: HttpExchange, state: ServerState) => void | Promise<void>,
];

/** An engine's HTTP surface, behind its key and its access log, on a server that does not listen yet. */
export function createServingServer(state: ServerState, rows: readonly ServingRoute[]): Server {
  const routes = httpRoutes(
    rows.map(([method, path, handler]) => [method, path, (exchange: HttpExchange) => handler(exchange, state)]),
  );
  return createHttpServer(routes, {
    admit(exchange) {
      const { request, response } = exchange;
      response.setHeader("server", "uvicorn");
      const id = request.headers["x-request-id"];
      if (state.settings.requestIdHeaders && typeof id === "string") {
        response.setHeader("x-request-id", id);
      }
      logAccess(exchange, state);
      if (!authorized(exchange, state.settings.apiKeys)) {
        sendJson(response, 401, { error: "Unauthorized" });
        return false;
      }
      return true;
    },
    notFound: ({ response }) => sendError(response, statusError(404), state),
    methodNotAllowed({ response }, allow) {
      response.setHeader("allow", allow);
      sendError(response, statusError(405), state);
    },
    failed({ response, path }, error) {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      state.log.error("APIServer", "server.py", `${path} failed in the simulator itself: ${detail}`);
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const words = { status: 500, message: "Internal Server Error", type: "InternalServerError", param: null };
      sendError(response, words, state);
    },
  });
}

/** Only paths under /v1 ask for the key: health, metrics and tokenize stay open. */
function authorized({ path, method, request }: HttpExchange, apiKeys: readonly string[]): boolean {
  if (apiKeys.length === 0 || method === "OPTIONS" || !path.startsWith("/v1")) {
    return true;
  }
  const [scheme = "", key = ""] = (request.headers.authorization ?? "").split(" ", 2);
  return scheme.toLowerCase() === "bearer" && apiKeys.includes(key);
}

/** uvicorn's access line, once the answer is over. */
function logAccess({ request, response, method, path }: HttpExchange, state: ServerState): void {
  if (!state.settings.accessLog || state.settings.quietEndpoints.includes(path)) {
    return;
  }
  const client = `${request.socket.remoteAddress ?? "-"}:${request.socket.remotePort ?? 0}`;
  response.once("close", () => {
    if (response.headersSent) {
      const status = `${response.statusCode} ${response.statusMessage}`;
      state.log.uvicorn(`${client} - "${method} ${request.url ?? path} HTTP/${request.httpVersion}" ${status}`);
    }
  });
}
