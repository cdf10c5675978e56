"use client";

import type { ReplicaView } from "@llmgw/api";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { parseAsBoolean, useQueryState } from "nuqs";
import { usePolling } from "../data/live.tsx";
import { useTRPC } from "../data/trpc.ts";
import { Loaded } from "../parts/loaded.tsx";
import { PageHeader } from "../parts/page.tsx";
import { phaseState } from "../state/replica-state.ts";
import { ReplicasTable } from "./replicas-table.tsx";

function verdict(replicas: readonly ReplicaView[]): string {
  const counts = new Map<string, number>();
  for (const replica of replicas) {
    const { word } = phaseState(replica.phase);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return `${[...counts].map(([word, count]) => `${count} ${word.toLowerCase()}`).join(", ")}.`;
}

/** Every replica: its phase and why, and where its shards are. */
export function Replicas() {
  const trpc = useTRPC();
  const [includeStopped, setIncludeStopped] = useQueryState("stopped", parseAsBoolean.withDefault(false));
  const query = useQuery({
    ...trpc.replicas.list.queryOptions({ includeStopped }),
    ...usePolling(),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <PageHeader
        title="Replicas"
        text={query.data === undefined || query.data.length === 0 ? undefined : verdict(query.data)}
        actions={
          <button
            type="button"
            className="btn"
            aria-pressed={includeStopped}
            onClick={() => void setIncludeStopped(!includeStopped)}
          >
            {includeStopped ? "Hide stopped" : "Show stopped"}
          </button>
        }
      />
      <section className="panel" aria-label="Replicas">
        <Loaded query={query} what="the replicas">
          {(replicas) => <ReplicasTable replicas={replicas} findable />}
        </Loaded>
      </section>
    </>
  );
}
