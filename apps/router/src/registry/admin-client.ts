import { type RouterSyncAnswer, type RouterSyncRequest, routerSyncAnswer } from "@llmgw/wire";
import { Agent, request } from "undici";
import { z } from "zod";

export type Answered =
  | { readonly kind: "ok"; readonly answer: RouterSyncAnswer }
  | { readonly kind: "failed"; readonly problem: string };

export interface AdminClientOptions {
  /** `http://host:port`, without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** A PEM certificate authority to trust besides the system's; null for none. */
  readonly ca: string | null;
}

const trpcAnswer = z.object({ result: z.object({ data: z.unknown() }) });
const trpcError = z.object({ error: z.object({ message: z.string() }) });

/** The one call of the management API that a router makes. */
export class AdminClient {
  readonly #options: AdminClientOptions;
  readonly #agent: Agent;

  constructor(options: AdminClientOptions) {
    this.#options = options;
    this.#agent = new Agent(options.ca === null ? {} : { connect: { ca: options.ca } });
  }

  get url(): string {
    return this.#options.url;
  }

  /** Reports, and gets the table if there is a newer one. Rejects with the signal's reason when that aborts. */
  async sync(body: RouterSyncRequest, timeoutMs: number, signal: AbortSignal): Promise<Answered> {
    const { url, token } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(`${url}/api/trpc/routers.sync`, {
        method: "POST",
        dispatcher: this.#agent,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, deadline]),
      });
      return read(response.statusCode, await response.body.text());
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) return { kind: "failed", problem: `no answer from ${url} within ${timeoutMs} ms` };
      return { kind: "failed", problem: `no answer from ${url}: ${described(error)}` };
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function read(status: number, text: string): Answered {
  const json = parsed(text);
  if (status !== 200) {
    const message = trpcError.safeParse(json).data?.error.message ?? text.slice(0, 200);
    return { kind: "failed", problem: `the admin answered ${status}: ${message}` };
  }
  const envelope = trpcAnswer.safeParse(json);
  const answer = routerSyncAnswer.safeParse(envelope.data?.result.data);
  if (answer.success) return { kind: "ok", answer: answer.data };
  return { kind: "failed", problem: `the admin's answer is not as expected: ${z.prettifyError(answer.error)}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a proxy's page, say: reported with its status
  }
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? ` (${error.code})` : "";
  return `${error.message || error.name}${code}`;
}
