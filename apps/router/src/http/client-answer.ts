import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { interruptedEvent } from "./dialect.ts";
import type { Exchange } from "./exchange.ts";
import { answerHeaders } from "./headers.ts";

/** The client's side of an answer that is being passed on: its head once, its bytes in order, and how it ends. */
export class ClientAnswer {
  readonly #exchange: Exchange;
  readonly #response: ServerResponse;
  readonly #onDrain: () => void;
  #isHeadSent = false;
  #isWaiting = false;

  /** `onDrain`: called when the client has read what `write` said was enough. */
  constructor(exchange: Exchange, onDrain: () => void) {
    this.#exchange = exchange;
    this.#response = exchange.response;
    this.#onDrain = onDrain;
  }

  /** True once the client may have seen something: from then on the answer is this one. */
  get isHeadSent(): boolean {
    return this.#isHeadSent;
  }

  sendHead(status: number, head: IncomingHttpHeaders, isEventStream: boolean): void {
    this.#isHeadSent = true;
    this.#exchange.writeHead(status, answerHeaders(head, isEventStream));
    if (isEventStream) this.#response.flushHeaders();
  }

  /** False: no more until `onDrain`, the client has to catch up. */
  write(bytes: Uint8Array): boolean {
    if (this.#response.write(bytes)) return true;
    if (!this.#isWaiting) {
      this.#isWaiting = true;
      this.#response.once("drain", () => {
        this.#isWaiting = false;
        this.#onDrain();
      });
    }
    return false;
  }

  end(rest: Uint8Array | null): void {
    if (rest === null) this.#response.end();
    else this.#response.end(rest);
  }

  /** Ends an event stream with the word that it is not whole, and its connection. */
  interrupt(message: string, { sequence, isBetweenEvents }: { sequence: number; isBetweenEvents: boolean }): void {
    const { socket } = this.#response;
    const event = interruptedEvent(this.#exchange.dialect, message, sequence);
    this.#response.end(isBetweenEvents ? event : `\n\n${event}`, () => socket?.end());
  }

  /** Cuts the connection: no other kind of answer has room for a word after its head. */
  destroy(): void {
    this.#response.destroy();
  }
}
