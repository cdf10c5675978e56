import { type RouterSyncAnswer, type RouterSyncRequest, routerSyncAnswer, type UsageReport } from "@llmgw/wire";
import { Agent, request } from "undici";
import { z } from "zod";

export type Answered<T = RouterSyncAnswer> =
  | { readonly kind: "ok"; readonly answer: T }
  | { readonly kind: "failed"; readonly problem: string };

export interface AdminClientOptions {
  /** `http://host:port`, without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** A PEM certificate authority to trust besides the system's; null for none. */
  readonly ca: string | null;
}

interface Call<T> {
  readonly procedure: string;
  readonly body: object;
  readonly schema: z.ZodType<T>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const usageTaken = z.object({ seq: z.int() });
const trpcAnswer = z.object({ result: z.object({ data: z.unknown() }) });
const trpcError = z.object({ error: z.object({ message: z.string() }) });

/** The calls of the management API that a router makes. Each rejects with the signal's reason when that aborts. */
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

  /** Reports, and gets the table if there is a newer one. */
  sync(body: RouterSyncRequest, timeoutMs: number, signal: AbortSignal): Promise<Answered> {
    return this.#call({ procedure: "routers.sync", body, schema: routerSyncAnswer, timeoutMs, signal });
  }

  /** Hands a batch of usage over; once that is answered the admin has it for good. */
  reportUsage(body: UsageReport, timeoutMs: number, signal: AbortSignal): Promise<Answered<{ seq: number }>> {
    return this.#call({ procedure: "routers.reportUsage", body, schema: usageTaken, timeoutMs, signal });
  }

  async #call<T>({ procedure, body, schema, timeoutMs, signal }: Call<T>): Promise<Answered<T>> {
    const { url, token } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(`${url}/api/trpc/${procedure}`, {
        method: "POST",
        dispatcher: this.#agent,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, deadline]),
      });
      return read(response.statusCode, await response.body.text(), schema);
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

function read<T>(status: number, text: string, schema: z.ZodType<T>): Answered<T> {
  const json = parsed(text);
  if (status !== 200) {
    const message = trpcError.safeParse(json).data?.error.message ?? text.slice(0, 200);
    return { kind: "failed", problem: `the admin answered ${status}: ${message}` };
  }
  const envelope = trpcAnswer.safeParse(json);
  const answer = schema.safeParse(envelope.data?.result.data);
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
