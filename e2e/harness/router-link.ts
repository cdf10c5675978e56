import { once } from "node:events";
import http from "node:http";
import type net from "node:net";
import { TcpLink } from "./tcp-link.ts";

/**
 * The link between one router and the admin. It also puts a link between that router and each engine: the engines' URLs
 * in the endpoint table are replaced by the addresses of `TcpLink`s of its own.
 */
export class RouterLink {
  readonly #server: http.Server;
  readonly #engines = new Map<string, TcpLink>();
  readonly #adminUrl: string;
  readonly #sockets = new Set<net.Socket>();
  #cut = false;

  private constructor(server: http.Server, adminUrl: string) {
    this.#server = server;
    this.#adminUrl = adminUrl;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      if (this.#cut) socket.resetAndDestroy();
    });
    server.on("request", (request, response) => void this.#forward(request, response));
  }

  static async open(adminUrl: string): Promise<RouterLink> {
    const server = http.createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new RouterLink(server, adminUrl);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`;
  }

  /** Cuts (or heals) the link to the admin. */
  cut(isCut: boolean): void {
    this.#cut = isCut;
    if (isCut) for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** The link to an engine, by the URL that its agent gave. */
  engine(url: string): TcpLink | undefined {
    return this.#engines.get(url);
  }

  async close(): Promise<void> {
    this.cut(true);
    this.#server.close();
    await Promise.all([...this.#engines.values()].map((link) => link.close()));
  }

  async #forward(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const answer = await fetch(`${this.#adminUrl}${request.url}`, {
        method: request.method ?? "GET",
        headers: {
          "content-type": request.headers["content-type"] ?? "application/json",
          authorization: request.headers.authorization ?? "",
        },
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
        signal: gone.signal,
      });
      const text = await this.#rewrite(await answer.text());
      response.writeHead(answer.status, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      });
      response.end(text);
    } catch {
      response.destroy(); // the admin is away: to the router this looks like a broken connection
    }
  }

  async #rewrite(text: string): Promise<string> {
    const urls = new Set(
      [...text.matchAll(/"(?:url|metricsUrl)":"(http:\/\/127\.0\.0\.\d+:\d+)/g)].map((match) => match[1] ?? ""),
    );
    let rewritten = text;
    for (const url of urls) {
      let link = this.#engines.get(url);
      if (link === undefined) {
        const target = new URL(url);
        link = await TcpLink.open({ host: target.hostname, port: Number(target.port) });
        this.#engines.set(url, link);
      }
      rewritten = rewritten.replaceAll(`"${url}`, `"${link.url}`);
    }
    return rewritten;
  }
}
