import type { Server } from "node:http";
import { createHttpServer, type HttpExchange, httpRoutes, sendJson } from "../../http/http-server.ts";
import { embeddings } from "./embeddings.ts";
import { sendError, statusError } from "./errors.ts";
import { chatCompletions, completions } from "./generation-endpoints.ts";
import { health, load, metrics, models, tokenize, version } from "./info-endpoints.ts";
import type { ServerState } from "./server-state.ts";

/** vLLM's HTTP surface on a server that does not listen yet. */
export function createApiServer(state: ServerState): Server {
  const bind = (handler: (exchange: HttpExchange, state: ServerState) => void | Promise<void>) => {
    return (exchange: HttpExchange) => handler(exchange, state);
  };
  const routes = httpRoutes([
    ["GET", "/health", bind(health)],
    ["GET", "/ping", bind(health)],
    ["POST", "/ping", bind(health)],
    ["GET", "/load", bind(load)],
    ["GET", "/version", version],
    ["GET", "/metrics", bind(metrics)],
    ["GET", "/v1/models", bind(models)],
    ["POST", "/tokenize", bind(tokenize)],
    ["POST", "/v1/chat/completions", bind(chatCompletions)],
    ["POST", "/v1/completions", bind(completions)],
    ["POST", "/v1/embeddings", bind(embeddings)],
  ]);
  state.log.info("APIServer", "launcher.py:38", "Available routes are:");
  for (const [path, methods] of routes) {
    state.log.info("APIServer", "launcher.py:46", `Route: ${path}, Methods: ${[...methods.keys()].join(", ")}`);
  }

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
    notFound: ({ response }) => sendError(response, statusError(404)),
    methodNotAllowed({ response }, allow) {
      response.setHeader("allow", allow);
      sendError(response, statusError(405));
    },
    failed({ response, path }, error) {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      state.log.error("APIServer", "server.py", `${path} failed in the simulator itself: ${detail}`);
      if (response.headersSent) {
        response.destroy();
      } else {
        sendError(response, {
          status: 500,
          message: "Internal Server Error",
          type: "InternalServerError",
          param: null,
        });
      }
    },
  });
}

/** Only paths under /v1 ask for the key, as in vLLM: health, metrics and tokenize stay open. */
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
