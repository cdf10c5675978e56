"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC } from "../data/trpc.ts";
import { useDenied } from "../data/whoami.ts";
import { type Entry, entriesOf } from "./entries.ts";

/** The palette's entries from what the pages know already, read again when it opens, and what could not be read. */
export function useEntries(): { readonly entries: readonly Entry[]; readonly error: unknown } {
  const trpc = useTRPC();
  const nodes = useQuery(trpc.nodes.list.queryOptions());
  const models = useQuery(trpc.models.list.queryOptions());
  const replicas = useQuery(trpc.replicas.list.queryOptions({ includeStopped: false }));
  const drains = useQuery(trpc.drains.list.queryOptions({}));
  const mayChangeNodes = useDenied("nodes.setAvailability") === null;
  const mayScale = useDenied("models.scale") === null;
  const entries = useMemo(
    () =>
      entriesOf({
        ...{ nodes: nodes.data ?? [], models: models.data ?? [], replicas: replicas.data ?? [] },
        ...{ drains: drains.data ?? [], mayChangeNodes, mayScale },
      }),
    [nodes.data, models.data, replicas.data, drains.data, mayChangeNodes, mayScale],
  );
  return { entries, error: nodes.error ?? models.error ?? replicas.error ?? drains.error };
}
