import { once } from "node:events";
import net from "node:net";

/** A TCP link between two programs that a test can cut (existing connections die, new ones are refused) or slow down. */
export class TcpLink {
  readonly port: number;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #target: { host: string; port: number };
  #cut = false;
  delayMs = 0;

  private constructor(server: net.Server, target: { host: string; port: number }) {
    this.#server = server;
    this.#target = target;
    this.port = (server.address() as net.AddressInfo).port;
    server.on("connection", (client) => this.#connect(client));
  }

  static async open(target: { host: string; port: number }): Promise<TcpLink> {
    const server = net.createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TcpLink(server, target);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Cuts (or heals) the link. A cut link resets what is open and refuses what is new. */
  cut(isCut: boolean): void {
    this.#cut = isCut;
    if (isCut) for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut(true);
    this.#server.close();
    await once(this.#server, "close");
  }

  #connect(client: net.Socket): void {
    if (this.#cut) {
      client.resetAndDestroy();
      return;
    }
    const upstream = net.connect(this.#target);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on("data", (chunk) => {
        const send = () => {
          if (!to.destroyed && !to.write(chunk)) {
            from.pause();
            to.once("drain", () => from.resume());
          }
        };
        if (this.delayMs > 0) setTimeout(send, this.delayMs);
        else send();
      });
      from.on("end", () => (this.delayMs > 0 ? setTimeout(() => to.end(), this.delayMs) : to.end()));
      from.on("error", () => to.resetAndDestroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        if (!to.destroyed) to.end();
      });
    }
  }
}
