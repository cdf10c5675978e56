import { createTRPCClient, httpBatchLink, type TRPCClient } from "@trpc/client";
import type { AppRouter } from "./server/root.ts";

export interface LlmgwClientOptions {
  /** The admin's address, e.g. `http://127.0.0.1:7070`. */
  readonly url: string;
  /** An operator token. */
  readonly token: string;
  /** Each request is given up after this long, ms (default 30,000). */
  readonly timeoutMs?: number;
}

export type LlmgwClient = TRPCClient<AppRouter>;

/** A typed client of the management API, for scripts and ctl. */
export function createLlmgwClient({ url, token, timeoutMs = 30_000 }: LlmgwClientOptions): LlmgwClient {
  return createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: `${url.replace(/\/+$/, "")}/api/trpc`,
        headers: { authorization: `Bearer ${token}` },
        fetch: (input, init) => {
          const timeout = AbortSignal.timeout(timeoutMs);
          const signal = init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
          return fetch(input, { ...init, signal } as RequestInit);
        },
      }),
    ],
  });
}
