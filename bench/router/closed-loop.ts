import { connect, type Socket } from "node:net";

export interface ClosedLoop {
  readonly requests: number;
  readonly failures: number;
  readonly seconds: number;
  /** Per request, milliseconds, sorted. */
  readonly latenciesMs: readonly number[];
}

export interface ClosedLoopOptions {
  readonly port: number;
  readonly request: Buffer;
  readonly connections: number;
  readonly durationMs: number;
}

const END_OF_CHUNKS = Buffer.from("\r\n0\r\n\r\n");

/** A fixed number of connections, each of which sends its next request as soon as the answer to the last one is whole. */
export async function closedLoop({ port, request, connections, durationMs }: ClosedLoopOptions): Promise<ClosedLoop> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + durationMs;
  let failures = 0;
  const one = () =>
    new Promise<void>((resolve) => {
      let sentMs = 0;
      let reader = new AnswerReader();
      const open = () => {
        const socket = connect({ port, host: "127.0.0.1", noDelay: true });
        socket.on("connect", () => send(socket));
        socket.on("data", (data: Buffer) => {
          if (!reader.push(data)) return;
          if (reader.status === 200) latenciesMs.push(performance.now() - sentMs);
          else failures += 1;
          if (performance.now() < endMs) send(socket);
          else socket.destroy();
        });
        socket.on("error", () => undefined);
        socket.on("close", () => {
          if (performance.now() >= endMs) resolve();
          else {
            failures += 1;
            open();
          }
        });
      };
      const send = (socket: Socket) => {
        reader = new AnswerReader();
        sentMs = performance.now();
        socket.write(request);
      };
      open();
    });
  await Promise.all(Array.from({ length: connections }, one));
  const seconds = (performance.now() - startMs) / 1_000;
  return { requests: latenciesMs.length, failures, seconds, latenciesMs: latenciesMs.toSorted((a, b) => a - b) };
}

/** Knows when one answer has ended, by its length or its last chunk. */
class AnswerReader {
  status = 0;
  #head = "";
  #missing = -1;
  #isChunked = false;
  #tail: Buffer = Buffer.alloc(0);

  push(data: Buffer): boolean {
    if (this.#isChunked) return this.#endsWithLastChunk(data);
    if (this.#missing >= 0) {
      this.#missing -= data.length;
      return this.#missing <= 0;
    }
    this.#head += data.toString("latin1");
    const end = this.#head.indexOf("\r\n\r\n");
    if (end === -1) return false;
    const head = this.#head.slice(0, end);
    this.status = Number(head.slice(9, 12));
    const body = this.#head.length - end - 4;
    this.#isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    if (this.#isChunked) return this.#endsWithLastChunk(data);
    this.#missing = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0) - body;
    return this.#missing <= 0;
  }

  #endsWithLastChunk(data: Buffer): boolean {
    const size = END_OF_CHUNKS.length;
    this.#tail = data.length >= size ? data : Buffer.concat([this.#tail.subarray(-size), data]);
    return this.#tail.subarray(-size).equals(END_OF_CHUNKS);
  }
}
