"use client";

import { QueryClientProvider } from "@tanstack/react-query";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import { type ReactNode, useState } from "react";
import { ToastProvider } from "../parts/toasts.tsx";
import { createApiClient, createQueryClient } from "./client.ts";
import { LiveProvider } from "./live.tsx";
import { TRPCProvider } from "./trpc.ts";

function goToSignIn(): void {
  if (window.location.pathname !== "/sign-in") window.location.assign("/sign-in");
}

/** Everything that pages share: the API client and its cache, the live clock, URL state, toasts. */
export function Providers({ children }: { readonly children: ReactNode }) {
  const [queryClient] = useState(() => createQueryClient(goToSignIn));
  const [apiClient] = useState(createApiClient);
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider queryClient={queryClient} trpcClient={apiClient}>
        <NuqsAdapter>
          <LiveProvider>
            <ToastProvider>{children}</ToastProvider>
          </LiveProvider>
        </NuqsAdapter>
      </TRPCProvider>
    </QueryClientProvider>
  );
}
