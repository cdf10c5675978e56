import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An engine that answers and streams, now and then refuses or breaks off, and in a bad mood does little else. */
export class MoodyEngine implements AsyncDisposable {
  readonly #server: Server;
  #isFailing = false;
  #served = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      request.on("error", () => undefined);
      request.resume().once("end", () => this.#answer(request, response));
    });
  }

  static async start(): Promise<MoodyEngine> {
    const engine = new MoodyEngine();
    await new Promise<void>((resolve) => engine.#server.listen(0, "127.0.0.1", resolve));
    return engine;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  fail(isFailing: boolean): void {
    this.#isFailing = isFailing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === "GET") {
      json(response, 200, { object: "list", data: [{ id: "m1", object: "model" }] });
      return;
    }
    this.#served += 1;
    if (this.#isFailing || this.#served % 97 === 0) response.destroy();
    else if (this.#served % 89 === 0) json(response, 503, { error: { message: "full" } });
    else if (request.headers.accept === "text/event-stream") stream(response, this.#served % 83 === 0);
    else json(response, 200, { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
  }
}

function stream(response: ServerResponse, breaksOff: boolean): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let left = 12;
  const timer = setInterval(() => {
    left -= 1;
    if (breaksOff && left === 4) response.destroy();
    else if (left > 0) response.write(`data: {"choices":[{"index":0,"delta":{"content":"${left}"}}]}\n\n`);
    else response.end("data: [DONE]\n\n");
    if (left === 0) clearInterval(timer);
  }, 10);
  response.once("close", () => clearInterval(timer));
}

function json(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}
