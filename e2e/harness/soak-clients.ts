import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";

export interface SoakClientsOptions {
  readonly url: string;
  readonly key: string;
  readonly count: number;
}

/** What one request is like. */
interface Manner {
  readonly body: string;
  readonly key?: string;
  readonly isStream?: boolean;
  /** The client leaves so long after it has sent its request. */
  readonly leavesAfterMs?: number;
}

const body = (extra: object = {}) =>
  JSON.stringify({ model: "m1", messages: [{ role: "user", content: "hi" }], ...extra });

const manners: readonly Manner[] = [
  { body: body() },
  { body: body({ x: "y".repeat(200_000) }) },
  { body: body({ stream: true }), isStream: true },
  { body: body({ stream: true }), isStream: true },
  { body: body({ stream: true }), isStream: true, leavesAfterMs: 60 },
  { body: body({ stream: true }), isStream: true, leavesAfterMs: 25 },
  { body: body(), key: "sk-wrong" },
  { body: '{"model":"m1",' },
  { body: '{"model":"nope"}' },
];

/** Clients that ask one thing after another, each time in another manner: patient, impatient, wrong. */
export class SoakClients {
  readonly #options: SoakClientsOptions;
  readonly #agent = new Agent({ connections: null, headersTimeout: 60_000, bodyTimeout: 60_000 });
  /** Requests whose head has reached the router. */
  sent = 0;
  readonly statuses: Record<string, number> = {};

  constructor(options: SoakClientsOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.count }, (_, index) => this.#one(index, signal)));
    await this.#agent.close();
  }

  async #one(index: number, signal: AbortSignal): Promise<void> {
    for (let turn = index; !signal.aborted; turn += 1) {
      const manner = manners[turn % manners.length];
      if (manner !== undefined) await this.#ask(manner);
      await sleep(20);
    }
  }

  async #ask({ body: text, key = this.#options.key, isStream = false, leavesAfterMs }: Manner): Promise<void> {
    const leave = new AbortController();
    this.sent += 1;
    const asking = request(`${this.#options.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...(isStream ? { accept: "text/event-stream" } : {}),
      },
      body: text,
      dispatcher: this.#agent,
      signal: leave.signal,
    });
    try {
      const answer = await asking;
      if (leavesAfterMs !== undefined) setTimeout(() => leave.abort(), leavesAfterMs);
      for await (const _part of answer.body);
      this.#count(String(answer.statusCode));
    } catch {
      this.#count(leave.signal.aborted ? "left" : "broken off");
    }
  }

  #count(what: string): void {
    this.statuses[what] = (this.statuses[what] ?? 0) + 1;
  }
}
