import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";

export interface Outcome {
  readonly url: string;
  readonly kind: "short" | "stream" | "long";
  readonly startedAt: number;
  readonly endedAt: number;
  readonly ok: boolean;
  readonly detail: string;
  readonly endpoint: string;
}

export interface LoadOptions {
  readonly urls: readonly string[];
  readonly apiKey: string;
  readonly model: string;
  readonly perSecond: number;
  /** Every n-th request is a stream of `longTokens`. */
  readonly longEvery: number;
  readonly longTokens: number;
}

/** Constant load: half of the requests are streams, some of them long; every answer is checked to its last byte. */
export class Load {
  readonly outcomes: Outcome[] = [];
  readonly #options: LoadOptions;
  readonly #agent = new Agent({ connections: 256, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 3_000 });
  readonly #open = new Set<Promise<void>>();
  #running: Promise<void> = Promise.resolve();
  #stop = false;
  readonly #started = { short: 0, stream: 0, long: 0 };
  #hasLong = true;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#open.size;
  }

  /** How many streams of `longTokens` have begun. */
  get longStarted(): number {
    return this.#started.long;
  }

  get failed(): Outcome[] {
    return this.outcomes.filter((outcome) => !outcome.ok);
  }

  start(): this {
    this.#running = this.#run();
    return this;
  }

  /** From now on the streams are short ones. */
  endLong(): void {
    this.#hasLong = false;
  }

  /** No new requests; resolves when every open one has ended. */
  async finish(): Promise<void> {
    this.#stop = true;
    await this.#running;
    await Promise.all(this.#open);
    await this.#agent.close();
  }

  async #run(): Promise<void> {
    const { perSecond, longEvery, urls } = this.#options;
    const startedAt = Date.now();
    for (let count = 0; !this.#stop; count += 1) {
      const dueMs = startedAt + (count * 1000) / perSecond - Date.now();
      if (dueMs > 0) await sleep(dueMs);
      const kind = this.#hasLong && count % longEvery === 0 ? "long" : count % 2 === 0 ? "stream" : "short";
      // Each kind goes round the routers by itself, so each router gets all kinds.
      const one = this.#send(urls[this.#started[kind] % urls.length] ?? "", kind);
      this.#started[kind] += 1;
      this.#open.add(one);
      void one.finally(() => this.#open.delete(one));
    }
  }

  async #send(url: string, kind: Outcome["kind"]): Promise<void> {
    const startedAt = Date.now();
    const { model, apiKey, longTokens } = this.#options;
    const tokens = kind === "long" ? longTokens : kind === "stream" ? 40 : 5;
    let endpoint = "";
    let problem = "";
    try {
      const answer = await request(`${url}/v1/chat/completions`, {
        method: "POST",
        dispatcher: this.#agent,
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({
          model,
          stream: kind !== "short",
          max_tokens: tokens,
          messages: [{ role: "user", content: `count to ${tokens}` }],
        }),
      });
      endpoint = String(answer.headers["x-llmgw-endpoint"] ?? "");
      const body = await answer.body.text();
      problem = judge({ status: answer.statusCode, body, kind, tokens });
    } catch (error) {
      problem = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    }
    this.outcomes.push({ url, kind, startedAt, endedAt: Date.now(), ok: problem === "", detail: problem, endpoint });
  }
}

function judge(answer: { status: number; body: string; kind: Outcome["kind"]; tokens: number }): string {
  const { status, body, kind, tokens } = answer;
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`;
  if (kind === "short") {
    const parsed = JSON.parse(body) as { usage?: { completion_tokens?: number } };
    return parsed.usage?.completion_tokens === tokens ? "" : `expected ${tokens} tokens, got ${body.slice(0, 200)}`;
  }
  const content = body.split("\n").filter((line) => line.startsWith("data: {") && /"content":"[^"]/.test(line)).length;
  if (!body.trimEnd().endsWith("data: [DONE]")) return `cut after ${content} of ${tokens} tokens: …${body.slice(-160)}`;
  return content === tokens ? "" : `expected ${tokens} content events, got ${content}`;
}
