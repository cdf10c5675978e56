import type { ReplicaView } from "@llmgw/api";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { type StateWord, StatusBadge } from "../state/states.tsx";

type RouterWord = ReplicaView["routing"]["routers"][number];

const probes: Readonly<Record<RouterWord["probe"], StateWord>> = {
  ok: { state: "healthy", word: "Reached" },
  failed: { state: "failed", word: "Not reached" },
  unknown: { state: "unknown", word: "Not tried yet" },
};

const breakers: Readonly<Record<RouterWord["breaker"], StateWord>> = {
  closed: { state: "closed", word: "Closed" },
  half_open: { state: "halfopen", word: "Half-open" },
  open: { state: "open", word: "Open" },
};

const columns: readonly Column<RouterWord>[] = [
  { id: "router", head: "Router", rowHeader: true, className: "head", cell: (router) => router.name },
  {
    id: "probe",
    head: "Its own probe",
    className: "nw top",
    cell: (router) => <StatusBadge {...probes[router.probe]} />,
  },
  {
    id: "applied",
    head: "Knows its state",
    className: "nw",
    card: "Knows its state",
    cell: (router) =>
      router.applied ? <StatusBadge state="healthy" word="Yes" /> : <StatusBadge state="stale" word="Not yet" />,
  },
  {
    id: "breaker",
    head: "Breaker",
    className: "nw",
    card: "Breaker",
    cell: (router) => <StatusBadge {...breakers[router.breaker]} />,
  },
  { id: "inflight", head: "In flight", className: "r", card: "In flight", cell: (router) => router.inflight },
];

/** What each live router says of a replica. A start is proven only when all of them have reached it. */
export function RoutingTable({ replica }: { readonly replica: ReplicaView }) {
  const { routing } = replica;
  if (routing.state === null) {
    return (
      <Empty title="No router sends to it">
        {replica.phase === "stopped"
          ? "It has stopped for good: replicas are never started again under the same name."
          : "It is offered to the routers when its engine is ready."}
      </Empty>
    );
  }
  if (routing.routers.length === 0) {
    return (
      <Empty title="No router is live" command="npx llmgw ctl routers">
        It is offered, but nothing sends requests just now.
      </Empty>
    );
  }
  return <DataTable label="Routing" columns={columns} rows={routing.routers} rowKey={(router) => router.name} />;
}
