import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type AddressSetting, type BoundAddress, type ListenAddress, listen } from "@llmgw/service";
import { shuttingDown } from "./admit.ts";
import { authenticate } from "./authenticate.ts";
import { answerBadRequest } from "./bad-request.ts";
import { allowedOrigin, preflightHeaders } from "./cors.ts";
import { Exchange } from "./exchange.ts";
import type { Gateway } from "./gateway.ts";
import { clientRequestId } from "./headers.ts";
import { listModels, retrieveModel } from "./list-models.ts";
import { RequestIds } from "./request-ids.ts";
import { routerError, shown } from "./router-error.ts";
import { dialectOf, routeOf } from "./routes.ts";
import { serveInference } from "./serve-inference.ts";

export interface ClientListenerOptions extends Omit<Gateway, "isDraining"> {
  readonly listen: ListenAddress;
  /** The setting that chose the address, to name it when it is in use. */
  readonly setting: AddressSetting;
}

const CHECK_TIMEOUTS_MS = 5_000;

/** The listener that inference clients talk to. */
export class ClientListener {
  readonly #options: ClientListenerOptions;
  readonly #gateway: Gateway;
  readonly #server: Server;
  readonly #exchanges = new Set<Exchange>();
  readonly #ids = new RequestIds();
  /** Open requests by socket. A client may send several at once on one. */
  readonly #busy = new Map<Socket, number>();
  #isDraining = false;
  #onIdle: (() => void) | null = null;

  constructor(options: ClientListenerOptions) {
    this.#options = options;
    this.#gateway = { ...options, isDraining: () => this.#isDraining };
    const { timeouts } = options.registry.settings;
    this.#server = createServer({
      noDelay: true,
      keepAliveTimeout: timeouts.clientKeepAliveMs,
      headersTimeout: timeouts.clientHeadersMs,
      requestTimeout: 0, // the time for a body is ours to limit: it depends on the size
      connectionsCheckingInterval: CHECK_TIMEOUTS_MS,
    });
    this.#server.on("request", (request, response) => this.#handle(request, response));
    this.#server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      this.#handle(request, response);
    });
    this.#server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
      const expected = shown(String(request.headers.expect));
      this.#exchange(request, response).sendError(
        routerError("expectation_failed", `Cannot meet Expect: ${expected}.`),
      );
    });
    this.#server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
      answerBadRequest(error, socket, this.#isAnswering(socket));
    });
    // A silent socket of an open request has limits of its own. Any other is an idle one, or a client that never reads the
    // rest of an answer that has ended long ago.
    this.#server.setTimeout(timeouts.clientStallMs, (socket) => {
      if (!this.#busy.has(socket)) socket.destroy();
    });
  }

  /** True from the stop signal on. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Requests that are being served. */
  get open(): number {
    return this.#exchanges.size;
  }

  listen(): Promise<BoundAddress> {
    return listen(this.#server, this.#options.listen, this.#options.setting);
  }

  /**
   * Takes nothing new, lets open answers go on to their end, and resolves when the last has ended. After `graceMs` those
   * still open are cut off, each with a word to its client.
   */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const { clock, log } = this.#options;
    const ended = new AbortController();
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    if (this.#exchanges.size > 0) {
      log.info({ open: this.#exchanges.size }, "waiting for open answers to end");
      const graceOver = clock.sleep(graceMs, ended.signal).then(
        () => this.#cut(),
        () => undefined, // ended in time
      );
      await idle;
      ended.abort();
      await graceOver;
    }
    await Promise.race([closed, this.#lingered()]);
    this.#server.closeAllConnections();
  }

  #cut(): void {
    this.#options.log.warn({ open: this.#exchanges.size }, "the grace is over: open answers are cut off");
    for (const exchange of [...this.#exchanges]) exchange.cut();
  }

  /** Gives the last bytes a moment to reach clients that read slowly. */
  async #lingered(): Promise<void> {
    const never = new AbortController();
    await this.#options.clock.sleep(500, never.signal);
  }

  #exchange(request: IncomingMessage, response: ServerResponse): Exchange {
    const exchange = new Exchange({
      id: clientRequestId(request.headers) ?? this.#ids.next(this.#options.clock.nowMs()),
      request,
      response,
      startMs: this.#options.clock.monotonicMs(),
      dialect: dialectOf(request.url ?? ""),
      corsOrigin: allowedOrigin(request.headers, this.#options.registry.settings.cors.origins),
      isDraining: () => this.#isDraining,
      onEnd: (ended, end) => {
        this.#options.observer.exchangeEnded(ended, end);
        this.#exchanges.delete(ended);
        this.#count(request.socket, -1);
        if (this.#isDraining) closeAfter(response);
        if (this.#exchanges.size === 0) this.#onIdle?.();
      },
    });
    this.#exchanges.add(exchange);
    this.#count(request.socket, 1);
    return exchange;
  }

  #count(socket: Socket, change: 1 | -1): void {
    const open = (this.#busy.get(socket) ?? 0) + change;
    if (open > 0) this.#busy.set(socket, open);
    else this.#busy.delete(socket);
  }

  /** True if a word on this socket now would be taken for a part of an answer, or for the answer to another request. */
  #isAnswering(socket: Socket): boolean {
    if (!this.#busy.has(socket)) return false;
    const open = [...this.#exchanges].filter(({ request }) => request.socket === socket);
    return open.length > 1 || open.some(({ request, response }) => request.complete || response.headersSent);
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const exchange = this.#exchange(request, response);
    this.#route(exchange).catch((error: unknown) => {
      this.#options.log.error({ error, requestId: exchange.id }, "a request failed in the router itself");
      if (response.headersSent) response.destroy();
      else exchange.sendError(routerError("internal_error", "The router failed on this request."));
      exchange.end({ outcome: "upstream_error", status: 500 });
    });
  }

  async #route(exchange: Exchange): Promise<void> {
    const { registry, clock } = this.#options;
    const { method = "", url = "" } = exchange.request;
    const route = routeOf(method, url);
    switch (route.kind) {
      case "unknown":
        exchange.sendError(routerError("not_found", "There is nothing at this path."));
        return;
      case "wrong_method": {
        const headers = { allow: route.allow };
        exchange.sendError(routerError("method_not_allowed", `This path takes ${route.allow}.`, { headers }));
        return;
      }
      case "preflight":
        answerPreflight(exchange, route.allow);
        return;
      case "healthz":
        exchange.sendJson(this.#isDraining ? 503 : 200, { status: this.#isDraining ? "shutting_down" : "ok" });
        exchange.end({ outcome: this.#isDraining ? "shutdown" : "ok", status: this.#isDraining ? 503 : 200 });
        return;
      default:
    }
    const authentication = authenticate(exchange.request, registry, clock.nowMs());
    if (authentication.kind === "refused") {
      exchange.sendError(authentication.error);
      return;
    }
    const { key } = authentication;
    exchange.keyId = key.id;
    if (this.#isDraining) exchange.sendError(shuttingDown());
    else if (route.kind === "models") listModels(exchange, registry, key);
    else if (route.kind === "model") retrieveModel(exchange, registry, { key, encodedId: route.encodedId });
    else await serveInference(this.#gateway, exchange, { api: route.api, key });
  }
}

/** Answers a browser's question what its page may send. It carries no key: it is not a request yet. */
function answerPreflight(exchange: Exchange, allow: string): void {
  if (!exchange.isCrossOriginAllowed) {
    exchange.sendError(routerError("method_not_allowed", `This path takes ${allow}.`, { headers: { allow } }));
    return;
  }
  exchange.writeHead(204, preflightHeaders(exchange.request.headers, allow));
  exchange.end({ outcome: "ok", status: 204 });
  exchange.response.end();
}

/** Ends the socket behind an answer's last byte: after a stop, a keep-alive socket would go on bringing requests. */
function closeAfter(response: ServerResponse): void {
  const { socket } = response;
  if (response.writableFinished) socket?.end();
  else response.once("finish", () => socket?.end());
}
