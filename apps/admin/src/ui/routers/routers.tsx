"use client";

import type { RouterView } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import { counted } from "../data/format.ts";
import { usePolling } from "../data/live.tsx";
import { Time } from "../data/time.tsx";
import { useTRPC } from "../data/trpc.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PageHeader } from "../parts/page.tsx";
import { type StateWord, StatusBadge } from "../state/states.tsx";

const states: Readonly<Record<RouterView["state"], StateWord>> = {
  live: { state: "ready", word: "Live" },
  silent: { state: "stale", word: "Silent" },
  left: { state: "stopped", word: "Left" },
};

function columnsOf(newest: number): readonly Column<RouterView>[] {
  return [
    {
      id: "name",
      head: "Router",
      rowHeader: true,
      className: "head",
      cell: (router) => (
        <>
          {router.name}
          <span className="sub">{router.address}</span>
        </>
      ),
    },
    { id: "state", head: "State", className: "nw top", cell: (router) => <StatusBadge {...states[router.state]} /> },
    { id: "inflight", head: "In flight", className: "r", card: "In flight", cell: (router) => router.inflight },
    {
      id: "applied",
      head: "Table applied",
      className: "nw",
      card: "Table applied",
      cell: (router) => (
        <>
          {router.appliedVersion}
          {router.appliedVersion < newest && <span className="faint"> {newest - router.appliedVersion} behind</span>}
        </>
      ),
    },
    { id: "seen", head: "Heard", card: "Heard", cell: (router) => <Time at={router.lastSeenAt} /> },
    { id: "version", head: "Version", className: "lo", card: "Version", cell: (router) => router.version },
  ];
}

function verdict(routers: readonly RouterView[]): string {
  const count = (state: RouterView["state"]) => routers.filter((router) => router.state === state).length;
  const silent = count("silent");
  return `${counted(count("live"), "router")} live${silent === 0 ? "" : `, ${silent} silent: it may still send requests, so drains wait for the engines' own counts`}.`;
}

/** Who sends the requests, and how far each follows what was decided. */
export function Routers() {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.routers.list.queryOptions(), ...usePolling() });
  const routers = query.data ?? [];
  const newest = Math.max(0, ...routers.map((router) => router.appliedVersion));
  return (
    <>
      <PageHeader title="Routers" text={routers.length === 0 ? undefined : verdict(routers)} />
      <section className="panel" aria-label="Routers">
        <Loaded query={query} what="the routers">
          {(view) =>
            view.length === 0 ? (
              <Empty
                title="No router has reported yet"
                command="LLMGW_ADMIN_URL=http://ADMIN:7070 LLMGW_ROUTER_TOKEN=TOKEN npx llmgw router"
              >
                A router serves the OpenAI-compatible API; it appears here when it first asks for its table.
              </Empty>
            ) : (
              <DataTable
                label="Routers"
                columns={columnsOf(newest)}
                rows={view}
                rowKey={(router) => router.id}
                alert={(router) => (router.state === "silent" ? "stale" : null)}
              />
            )
          }
        </Loaded>
      </section>
    </>
  );
}
