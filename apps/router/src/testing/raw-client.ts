import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded from chunks where it was chunked. */
  readonly body: Buffer;
  /** True if the body ended as its framing says it must. */
  readonly isWhole: boolean;
}

/** A client made of raw TCP: sends exact bytes, can stop reading, and can leave with a reset. */
export class RawClient {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (data) => {
      this.#received = Buffer.concat([this.#received, Buffer.from(data)]);
      this.#notify();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#isClosed = true;
      this.#notify();
    });
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, "127.0.0.1");
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new RawClient(socket);
  }

  get received(): Buffer {
    return this.#received;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  post(body: string | Buffer, options: PostOptions = {}): void {
    const { path = "/v1/chat/completions", key = "sk-one", headers = [], type = "application/json" } = options;
    const bytes = Buffer.from(body);
    const lines = [
      `POST ${path} HTTP/1.1`,
      "Host: llmgw",
      ...(key === null ? [] : [`Authorization: Bearer ${key}`]),
      `Content-Type: ${type}`,
      `Content-Length: ${bytes.length}`,
      ...headers,
    ];
    this.send(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), bytes]));
  }

  /** Resolves when what has arrived satisfies `isEnough`, or rejects when the connection closes before. */
  async until(isEnough: (received: Buffer) => boolean): Promise<void> {
    while (!isEnough(this.#received)) {
      if (this.#isClosed) throw new Error(`the connection closed; received: ${this.#received.toString("latin1")}`);
      await this.#change();
    }
  }

  async closed(): Promise<void> {
    while (!this.#isClosed) await this.#change();
  }

  /** Reads one answer off the connection. */
  async answer(): Promise<RawAnswer> {
    for (;;) {
      const parsed = parseAnswer(this.#received, this.#isClosed);
      if (parsed !== null) {
        this.#received = this.#received.subarray(parsed.length);
        return parsed.answer;
      }
      if (this.#isClosed) throw new Error(`no answer; received: ${this.#received.toString("latin1")}`);
      await this.#change();
    }
  }

  close(): void {
    this.socket.destroy();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #notify(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

export interface PostOptions {
  readonly path?: string;
  readonly key?: string | null;
  readonly type?: string;
  /** Whole header lines. */
  readonly headers?: readonly string[];
}

function parseAnswer(bytes: Buffer, isClosed: boolean): { answer: RawAnswer; length: number } | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
  const status = Number(statusLine.split(" ")[1]);
  const rest = bytes.subarray(headEnd + 4);
  const done = (body: Buffer, used: number, isWhole: boolean) => ({
    answer: { status, headers, body, isWhole },
    length: headEnd + 4 + used,
  });
  if (headers["transfer-encoding"] === "chunked") {
    const { body, used, isWhole } = dechunk(rest);
    return isWhole || isClosed ? done(body, isWhole ? used : rest.length, isWhole) : null;
  }
  const length = Number(headers["content-length"] ?? 0);
  if (rest.length >= length) return done(rest.subarray(0, length), length, true);
  return isClosed ? done(rest, rest.length, false) : null;
}

function dechunk(bytes: Buffer): { body: Buffer; used: number; isWhole: boolean } {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) break;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    const start = lineEnd + 2;
    if (size === 0) return { body: Buffer.concat(parts), used: start + 2, isWhole: bytes.length >= start + 2 };
    parts.push(bytes.subarray(start, Math.min(bytes.length, start + size)));
    if (bytes.length < start + size + 2) break;
    at = start + size + 2;
  }
  return { body: Buffer.concat(parts), used: bytes.length, isWhole: false };
}
