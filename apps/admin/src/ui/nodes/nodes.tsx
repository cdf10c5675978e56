"use client";

import type { DrainView, NodeView } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { counted } from "../data/format.ts";
import { usePolling } from "../data/live.tsx";
import { Time } from "../data/time.tsx";
import { useTRPC } from "../data/trpc.ts";
import { DrainSummary } from "../drains/drain-bar.tsx";
import type { Searchable } from "../find/find.ts";
import { FindBar, NothingFound } from "../find/find-bar.tsx";
import { useFind } from "../find/use-find.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MemoryBar } from "../parts/memory-bar.tsx";
import { PageHeader, paths } from "../parts/page.tsx";
import { SimulatedMark } from "../parts/simulated.tsx";
import { decidedStateOf, livenessOf, nodeAlert } from "../state/node-state.ts";
import { StatusBadge } from "../state/states.tsx";
import { CordonWords } from "./cordon-words.tsx";
import { GpuStrip } from "./gpu-strip.tsx";
import { NodeActions } from "./node-actions.tsx";

/** The maker's name says nothing that the model of the card does not. */
function shortName(name: string): string {
  return name.replace(/^(?:NVIDIA|AMD|Apple)\s+/, "");
}

export function hardwareOf(node: NodeView): string {
  const kinds = new Map<string, number>();
  for (const gpu of node.gpus) kinds.set(shortName(gpu.name), (kinds.get(shortName(gpu.name)) ?? 0) + 1);
  return kinds.size === 0 ? "no GPU" : [...kinds].map(([name, count]) => `${count} × ${name}`).join(", ");
}

const usableGpus = (node: NodeView): number => node.gpus.filter((gpu) => gpu.schedulable).length;

const replicasOn = (node: NodeView): number => new Set(node.shards.map((shard) => shard.replicaId)).size;

/** The part of the node's GPU memory that replicas hold, 0 to 1. */
function claimedRatio(node: NodeView): number {
  const held = node.gpus.flatMap((gpu) => gpu.holders).reduce((sum, holder) => sum + holder.mib, 0);
  const total = node.gpus.reduce((sum, gpu) => sum + (typeof gpu.totalMib === "number" ? gpu.totalMib : 0), 0);
  return total === 0 ? 0 : held / total;
}

const search: Searchable<NodeView> = {
  texts: (node) => [
    ...[node.name, node.address, hardwareOf(node)],
    ...Object.entries(node.labels).map(([name, value]) => `${name}=${value}`),
    ...node.shards.map((shard) => shard.modelId),
  ],
  states: (node) => [
    decidedStateOf(node).word,
    ...(node.liveness === "live" ? [] : [livenessOf(node).word]),
    ...(node.gpus.some((gpu) => gpu.health.status === "unhealthy") ? ["Unhealthy GPU"] : []),
  ],
};

const columns: readonly Column<NodeView>[] = [
  {
    id: "name",
    head: "Node",
    rowHeader: true,
    className: "head",
    sort: (node) => node.name,
    cell: (node) => (
      <>
        <Link className="cell" href={paths.node(node.name)}>
          {node.name}
        </Link>{" "}
        {node.simulated && <SimulatedMark />}
        <span className="sub">{node.address}</span>
      </>
    ),
  },
  {
    id: "state",
    head: "State",
    className: "top statecell",
    sort: (node) => decidedStateOf(node).word,
    cell: (node) => (
      <>
        <StatusBadge {...decidedStateOf(node)} />
        {node.cordons
          .filter((cordon) => cordon.gpuUuid === null)
          .map((cordon) => (
            <CordonWords key={`${cordon.owner} ${cordon.since}`} cordon={cordon} />
          ))}
      </>
    ),
  },
  {
    id: "heard",
    head: "Heard",
    className: "nw",
    card: "Heard",
    sort: (node) => livenessOf(node).word,
    cell: (node) => (
      <>
        <StatusBadge {...livenessOf(node)} />
        <span className="sub">{node.lastSeenAt === null ? "never" : <Time at={node.lastSeenAt} show="age" />}</span>
      </>
    ),
  },
  {
    id: "hardware",
    head: "Hardware",
    className: "nw off lo lo2",
    sort: hardwareOf,
    cell: (node) => (
      <>
        {hardwareOf(node)}
        <span className="sub">
          {Object.entries(node.labels)
            .map(([name, value]) => `${name}=${value}`)
            .join(" ")}
        </span>
      </>
    ),
  },
  {
    id: "gpus",
    head: "GPUs usable",
    className: "full gpucell",
    sort: usableGpus,
    cell: (node) => <GpuStrip node={node} />,
  },
  {
    id: "memory",
    head: "Memory claimed",
    className: "lo",
    card: "Memory claimed",
    sort: claimedRatio,
    cell: (node) => <MemoryBar gpus={node.gpus} />,
  },
  {
    id: "replicas",
    head: "Replicas",
    className: "r lo",
    card: "Replicas",
    sort: replicasOn,
    cell: replicasOn,
  },
  {
    id: "actions",
    head: "Actions",
    silent: true,
    className: "r act",
    cell: (node) => (
      <span className="acts is-row">
        <NodeActions node={node} small />
      </span>
    ),
  },
];

function verdict(nodes: readonly NodeView[]): string {
  const count = (test: (node: NodeView) => boolean) => nodes.filter(test).length;
  const gpus = nodes.flatMap((node) => node.gpus);
  const parts = [
    [count((node) => node.liveness === "live" && node.availability === "active"), "ready"],
    [count((node) => node.availability === "draining"), "draining"],
    [count((node) => node.availability === "drained"), "drained"],
    [count((node) => node.availability === "cordoned"), "cordoned"],
    [count((node) => node.liveness === "suspect"), "silent"],
    [count((node) => node.liveness === "lost"), "lost"],
  ] as const;
  const words = parts.filter(([many]) => many > 0).map(([many, word]) => `${many} ${word}`);
  return `${words.join(", ")}. ${gpus.filter((gpu) => gpu.schedulable).length} of ${counted(gpus.length, "GPU")} take new work as far as the GPU goes.`;
}

interface NodesTableProps {
  readonly nodes: readonly NodeView[];
  readonly drains: readonly DrainView[];
}

function NodesTable({ nodes, drains }: NodesTableProps) {
  const found = useFind(nodes, columns, search);
  return (
    <>
      <FindBar found={found} what="nodes" />
      {found.rows.length === 0 ? (
        <NothingFound what="nodes" onClear={found.clear} />
      ) : (
        <DataTable
          label="Nodes"
          columns={columns}
          rows={found.rows}
          rowKey={(node) => node.id}
          alert={nodeAlert}
          sort={found}
          sub={(node) => {
            const drain = drains.find((each) => each.id === node.openDrainId);
            return drain === undefined ? null : <DrainSummary drain={drain} />;
          }}
        />
      )}
    </>
  );
}

/** Every node: what was decided about it, whether it is heard, what its GPUs say and hold. */
export function Nodes() {
  const trpc = useTRPC();
  const polling = usePolling();
  const query = useQuery({ ...trpc.nodes.list.queryOptions(), ...polling });
  const drains = useQuery({ ...trpc.drains.list.queryOptions({ open: true }), ...polling });
  return (
    <>
      <PageHeader
        title="Nodes"
        text={query.data === undefined || query.data.length === 0 ? undefined : verdict(query.data)}
      />
      <section className="panel" aria-label="Nodes">
        <Loaded query={query} what="the nodes">
          {(nodes) =>
            nodes.length === 0 ? (
              <Empty
                title="No node has joined yet"
                command="LLMGW_ADMIN_URL=http://ADMIN:7070 LLMGW_JOIN_TOKEN=TOKEN npx llmgw agent"
              >
                Start an agent on each GPU machine with a join token; the machine appears here within seconds.
              </Empty>
            ) : (
              <NodesTable nodes={nodes} drains={drains.data ?? []} />
            )
          }
        </Loaded>
      </section>
    </>
  );
}
