import { createServer, type Server, type Socket } from "node:net";

/** A request as it arrived, byte for byte. */
export interface EngineRequest {
  readonly head: string;
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
  readonly socket: Socket;
  /** Which request on its socket it is, from 1. */
  readonly turn: number;
}

export type EngineScript = (request: EngineRequest) => void | Promise<void>;

/** An engine made of raw TCP, so that chunk borders, missing headers and resets are exactly what a test wants. */
export class FakeEngine {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #script: EngineScript;
  #models: readonly string[];
  readonly requests: EngineRequest[] = [];
  metrics = "vllm:num_requests_running 0\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0\n";
  /** False: `GET /metrics` is never answered. */
  answersMetrics = true;
  /** Status of `GET /v1/models`. */
  modelsStatus = 200;

  private constructor(script: EngineScript, models: readonly string[]) {
    this.#script = script;
    this.#models = models;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(script: EngineScript, models: readonly string[] = ["m1"]): Promise<FakeEngine> {
    const engine = new FakeEngine(script, models);
    await new Promise<void>((resolve) => engine.#server.listen(0, "127.0.0.1", resolve));
    return engine;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the fake engine does not listen");
    return address.port;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  script(script: EngineScript): void {
    this.#script = script;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.on("close", () => this.#sockets.delete(socket));
    let buffered = Buffer.alloc(0);
    let turn = 0;
    socket.on("data", (chunk) => {
      buffered = Buffer.concat([buffered, Buffer.from(chunk)]);
      for (;;) {
        const headEnd = buffered.indexOf("\r\n\r\n");
        if (headEnd === -1) return;
        const head = buffered.subarray(0, headEnd + 4).toString("latin1");
        const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
        if (buffered.length < headEnd + 4 + length) return;
        const body = buffered.subarray(headEnd + 4, headEnd + 4 + length);
        buffered = buffered.subarray(headEnd + 4 + length);
        const [method = "", path = ""] = head.split(" ", 2);
        turn += 1;
        this.#answer({ head, method, path, body, socket, turn });
      }
    });
  }

  #answer(request: EngineRequest): void {
    const { method, path, socket } = request;
    if (method === "GET" && path === "/v1/models") {
      const body = JSON.stringify({ object: "list", data: this.#models.map((id) => ({ id, object: "model" })) });
      socket.write(jsonAnswer(body, this.modelsStatus));
    } else if (method === "GET" && path === "/metrics") {
      if (!this.answersMetrics) return;
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${this.metrics.length}\r\n\r\n${this.metrics}`,
      );
    } else {
      this.requests.push(request);
      void this.#script(request);
    }
  }
}

/** A whole answer with a JSON body. */
export function jsonAnswer(body: string, status = 200, headers = ""): string {
  return `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The head of a chunked event stream. */
export const streamHead =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";

/** One chunk of a chunked body. */
export function chunk(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

export const lastChunk = "0\r\n\r\n";

/** A content event as vLLM writes it. */
export function event(content: string, finish: string | null = null): string {
  const body = {
    id: "c1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  };
  return `data: ${JSON.stringify(body)}\n\n`;
}

export const done = "data: [DONE]\n\n";
