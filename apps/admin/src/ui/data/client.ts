import type { AppRouter } from "@llmgw/api";
import { QueryCache, QueryClient } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink, httpLink, splitLink } from "@trpc/client";
import { errorFacts } from "./error-facts.ts";

const url = "/api/trpc";
const timeoutMs = 20_000;

type Fetch = NonNullable<Parameters<typeof httpLink>[0]["fetch"]>;

/** Gives every call up after 20 s, so that a hung connection shows as stale instead of as nothing. */
const fetchWithTimeout: Fetch = (input, init) => {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
  return fetch(input, { ...init, signal } as RequestInit);
};

/**
 * The browser's client of the management API. Calls with `context.slow` (logs, explanations) travel alone, so that what
 * is polled each second does not wait for them.
 */
export function createApiClient() {
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.context["slow"] === true,
        true: httpLink({ url, fetch: fetchWithTimeout }),
        false: httpBatchLink({ url, fetch: fetchWithTimeout, maxURLLength: 2000 }),
      }),
    ],
  });
}

/** A query is asked again by the live clock, so a failed one is not retried in a hurry. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (errorFacts(error).code === "UNAUTHORIZED") onSignedOut();
      },
    }),
    defaultOptions: { queries: { retry: false, staleTime: 500, refetchOnWindowFocus: true } },
  });
}
