import {
  type AgentSyncAnswer,
  type AgentSyncRequest,
  agentJoinAnswer,
  type agentJoinRequest,
  agentSyncAnswer,
} from "@llmgw/wire";
import { Agent, request } from "undici";
import { z } from "zod";
import type { Identity } from "./identity.ts";

export type Answered<T> =
  | { readonly kind: "ok"; readonly value: T }
  /** The admin says no (401, 403, 409): trying again changes nothing until somebody acts. */
  | { readonly kind: "refused"; readonly status: number; readonly message: string }
  /** No answer, or one that cannot be used. */
  | { readonly kind: "unavailable"; readonly message: string };

export interface AdminClient {
  join(joinToken: string, body: z.infer<typeof agentJoinRequest>, signal: AbortSignal): Promise<Answered<Identity>>;
  sync(credential: string, body: AgentSyncRequest, signal: AbortSignal): Promise<Answered<AgentSyncAnswer>>;
  close(): Promise<void>;
}

export interface AdminClientOptions {
  /** `http://host:port`, without a trailing slash. */
  readonly url: string;
  /** A PEM certificate authority to trust besides the system's; null for none. */
  readonly ca: string | null;
  /** How long an answer may take, the time for which the admin holds a poll included. */
  readonly timeoutMs: number;
}

const trpcAnswer = z.object({ result: z.object({ data: z.unknown() }) });
const trpcError = z.object({ error: z.object({ message: z.string() }) });

/** The two calls of the management API that an agent makes, over connections that stay open. */
export function createAdminClient({ url, ca, timeoutMs }: AdminClientOptions): AdminClient {
  const dispatcher = new Agent({ connect: { timeout: timeoutMs, ...(ca === null ? {} : { ca }) } });

  const call = async <S extends z.ZodType>(
    { path, token, body, answer }: { path: string; token: string; body: unknown; answer: S },
    signal: AbortSignal,
  ): Promise<Answered<z.output<S>>> => {
    try {
      const response = await request(`${url}/api/trpc/${path}`, {
        method: "POST",
        dispatcher,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      return read(response.statusCode, await response.body.text(), answer);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return { kind: "unavailable", message: `no answer from ${url}: ${said(error)}` };
    }
  };
  return {
    join: (token, body, signal) => call({ path: "agents.join", token, body, answer: agentJoinAnswer }, signal),
    sync: (token, body, signal) => call({ path: "agents.sync", token, body, answer: agentSyncAnswer }, signal),
    close: () => dispatcher.destroy(),
  };
}

function read<S extends z.ZodType>(status: number, text: string, schema: S): Answered<z.output<S>> {
  const json = parseJson(text);
  if (status === 200) {
    const envelope = trpcAnswer.safeParse(json);
    const answer = schema.safeParse(envelope.data?.result.data);
    if (answer.success) return { kind: "ok", value: answer.data };
    return { kind: "unavailable", message: `the admin's answer is not as expected: ${z.prettifyError(answer.error)}` };
  }
  const message = trpcError.safeParse(json).data?.error.message ?? text.slice(0, 200);
  if ([401, 403, 409].includes(status)) return { kind: "refused", status, message };
  return { kind: "unavailable", message: `the admin answered ${status}: ${message}` };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a proxy's page, say: reported with its status
  }
}

/** undici wraps what happened: the cause is what tells a refused connection from a name that does not resolve. */
function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? ` (${error.code})` : "";
  return `${error.message || error.name}${code}`;
}
