"use client";

import { useQuery } from "@tanstack/react-query";
import { counted } from "../data/format.ts";
import { usePolling } from "../data/live.tsx";
import { useTRPC } from "../data/trpc.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PageHeader } from "../parts/page.tsx";
import { DrainsTable } from "./drains-table.tsx";

/** Drains that run and that ran. */
export function Drains() {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.drains.list.queryOptions({}), ...usePolling() });
  const open = query.data?.filter((drain) => drain.endedAt === null).length ?? 0;
  return (
    <>
      <PageHeader
        title="Drains"
        text={
          query.data === undefined
            ? undefined
            : `${open === 0 ? "No drain runs just now." : `${counted(open, "drain")} running.`} A drain moves every replica off a node before its engines stop.`
        }
      />
      <section className="panel" aria-label="Drains">
        <Loaded query={query} what="the drains">
          {(drains) =>
            drains.length === 0 ? (
              <Empty title="No node has been drained yet" command="npx llmgw ctl drain NODE --dry-run">
                Start one from a node's row, or see what one would do:
              </Empty>
            ) : (
              <DrainsTable drains={drains} />
            )
          }
        </Loaded>
      </section>
    </>
  );
}
