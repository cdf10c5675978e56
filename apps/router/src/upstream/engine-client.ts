import { Agent, request } from "undici";

export interface EngineGet {
  readonly url: string;
  readonly apiKey: string | null;
  /** For the whole exchange, from the connection to the last byte. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type EngineAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly text: string }
  | { readonly kind: "failed"; readonly problem: string };

/** A metrics page or a list of models is never larger; what is, is something else. */
const MAX_BODY_BYTES = 4_194_304;
const KEEP_ALIVE_MS = 4_000;

/** Small GETs to engines on sockets of their own, so that they never wait behind requests. */
export class EngineClient {
  readonly #agent = new Agent({ connections: 2, keepAliveTimeout: KEEP_ALIVE_MS, keepAliveMaxTimeout: KEEP_ALIVE_MS });

  async get({ url, apiKey, timeoutMs, signal }: EngineGet): Promise<EngineAnswer> {
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        signal: AbortSignal.any([signal, deadline]),
        headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      });
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of response.body) {
        const bytes = Buffer.from(chunk);
        size += bytes.length;
        if (size > MAX_BODY_BYTES) {
          response.body.destroy();
          return { kind: "failed", problem: `the answer is larger than ${MAX_BODY_BYTES} bytes` };
        }
        chunks.push(bytes);
      }
      return { kind: "answered", status: response.statusCode, text: Buffer.concat(chunks).toString("utf8") };
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) return { kind: "failed", problem: `no answer within ${timeoutMs} ms` };
      return { kind: "failed", problem: error instanceof Error ? error.message : String(error) };
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
