import { connect, type Socket } from "node:net";

export interface PacedStreams {
  /** From the engine's write of an event to its arrival, milliseconds, sorted. */
  readonly latenciesMs: readonly number[];
  /** Longest time between two events of one stream. */
  readonly largestGapMs: number;
  readonly broken: number;
}

const SENT_AT = /"t":"(\d+)"/g;

/** Streams that stay open and get an event now and then, each of which says when it was sent. */
export class PacedClient {
  readonly #sockets: Socket[] = [];
  readonly #port: number;
  readonly #request: Buffer;
  #latenciesMs: number[] = [];
  #largestGapMs = 0;
  #broken = 0;
  #isMeasuring = false;

  constructor({ port, request }: { port: number; request: Buffer }) {
    this.#port = port;
    this.#request = request;
  }

  /** Opens streams, and resolves once each has had its first event. */
  async open(count: number): Promise<void> {
    for (let opened = 0; opened < count; opened += 100) {
      await Promise.all(Array.from({ length: Math.min(100, count - opened) }, () => this.#open()));
    }
  }

  async measure(durationMs: number): Promise<PacedStreams> {
    this.#latenciesMs = [];
    this.#largestGapMs = 0;
    this.#isMeasuring = true;
    await new Promise((resolve) => setTimeout(resolve, durationMs));
    this.#isMeasuring = false;
    return {
      latenciesMs: this.#latenciesMs.toSorted((a, b) => a - b),
      largestGapMs: this.#largestGapMs,
      broken: this.#broken,
    };
  }

  close(): void {
    for (const socket of this.#sockets) socket.removeAllListeners("close").destroy();
  }

  #open(): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
      this.#sockets.push(socket);
      let lastMs = 0;
      socket.on("connect", () => socket.write(this.#request));
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#broken += 1;
        resolve();
      });
      socket.on("data", (data: Buffer) => {
        const now = process.hrtime.bigint();
        for (const [, sent = "0"] of data.toString("latin1").matchAll(SENT_AT)) {
          resolve();
          if (!this.#isMeasuring) continue;
          this.#latenciesMs.push(Number(now - BigInt(sent)) / 1e6);
          const nowMs = Number(now) / 1e6;
          if (lastMs > 0) this.#largestGapMs = Math.max(this.#largestGapMs, nowMs - lastMs);
          lastMs = nowMs;
        }
      });
    });
  }
}
