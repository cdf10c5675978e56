"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTRPC } from "../data/trpc.ts";

/** Cordon, uncordon and drain. What is on the screen changes when the server says so, never before. */
export function useAvailability() {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return useMutation(
    trpc.nodes.setAvailability.mutationOptions({
      onSuccess: () =>
        Promise.all(
          [trpc.nodes, trpc.drains, trpc.cluster, trpc.replicas, trpc.models].map((router) =>
            queries.invalidateQueries({ queryKey: router.pathKey() }),
          ),
        ),
    }),
  );
}
