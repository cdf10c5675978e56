import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** One request with its whole body. */
export interface HttpExchange {
  readonly method: string;
  readonly path: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

export type HttpHandler = (exchange: HttpExchange) => void | Promise<void>;

/** What a dialect decides about requests that have no handler or break the rules. */
export interface HttpPolicy {
  /** Answers by itself and returns false when the request may not go on (a wrong API key). */
  readonly admit: (exchange: HttpExchange) => boolean;
  readonly notFound: HttpHandler;
  readonly methodNotAllowed: (exchange: HttpExchange, allow: string) => void;
  readonly failed: (exchange: HttpExchange, error: unknown) => void;
}

/** Handlers by path, then by method. */
export type HttpRoutes = ReadonlyMap<string, ReadonlyMap<string, HttpHandler>>;

/** Builds the table that `createHttpServer` serves from rows of method, path, handler. */
export function httpRoutes(rows: readonly (readonly [string, string, HttpHandler])[]): HttpRoutes {
  const routes = new Map<string, Map<string, HttpHandler>>();
  for (const [method, path, handler] of rows) {
    const methods = routes.get(path) ?? new Map<string, HttpHandler>();
    methods.set(method, handler);
    routes.set(path, methods);
  }
  return routes;
}

/** An HTTP server that does not listen yet. A client that leaves before its body is complete is not handled at all. */
export function createHttpServer(routes: HttpRoutes, policy: HttpPolicy): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const method = request.method ?? "GET";
      const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
      const exchange = { method, path, request, response, body: Buffer.concat(chunks) };
      dispatch(exchange, routes, policy).catch((error: unknown) => policy.failed(exchange, error));
    });
    request.on("error", () => response.destroy());
    response.on("error", () => response.destroy());
  });
}

async function dispatch(exchange: HttpExchange, routes: HttpRoutes, policy: HttpPolicy): Promise<void> {
  if (!policy.admit(exchange)) {
    return;
  }
  const methods = routes.get(exchange.path);
  if (methods === undefined) {
    await policy.notFound(exchange);
    return;
  }
  const handler = methods.get(exchange.method);
  if (handler === undefined) {
    policy.methodNotAllowed(exchange, [...methods.keys()].join(", "));
    return;
  }
  await handler(exchange);
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

export type ListenOutcome =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "address_in_use" }
  | { readonly kind: "failed"; readonly error: Error };

/** Starts to listen; a busy port is an outcome, as the engines report it in their own words. */
export async function listen(server: Server, port: number, host: string | undefined): Promise<ListenOutcome> {
  return await new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException) =>
      resolve(error.code === "EADDRINUSE" ? { kind: "address_in_use" } : { kind: "failed", error });
    server.once("error", onError);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off("error", onError);
      const address = server.address();
      resolve({ kind: "listening", port: typeof address === "object" && address !== null ? address.port : port });
    });
  });
}

/** Cuts every connection and frees the port. */
export async function closeNow(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
