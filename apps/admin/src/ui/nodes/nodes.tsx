"use client";

import type { DrainView, NodeView } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { counted } from "../data/format.ts";
import { usePolling } from "../data/live.tsx";
import { Time } from "../data/time.tsx";
import { useTRPC } from "../data/trpc.ts";
import { DrainSummary } from "../drains/drain-bar.tsx";
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

const columns: readonly Column<NodeView>[] = [
  {
    id: "name",
    head: "Node",
    rowHeader: true,
    className: "head",
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
  { id: "gpus", head: "GPUs usable", className: "full gpucell", cell: (node) => <GpuStrip node={node} /> },
  {
    id: "memory",
    head: "Memory claimed",
    className: "lo",
    card: "Memory claimed",
    cell: (node) => <MemoryBar gpus={node.gpus} />,
  },
  {
    id: "replicas",
    head: "Replicas",
    className: "r lo",
    card: "Replicas",
    cell: (node) => new Set(node.shards.map((shard) => shard.replicaId)).size,
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

/** Every node: what was decided about it, whether it is heard, what its GPUs say and hold. */
export function Nodes() {
  const trpc = useTRPC();
  const polling = usePolling();
  const query = useQuery({ ...trpc.nodes.list.queryOptions(), ...polling });
  const drains = useQuery({ ...trpc.drains.list.queryOptions({ open: true }), ...polling });
  const drainOf = (node: NodeView): DrainView | undefined =>
    drains.data?.find((drain) => drain.id === node.openDrainId);
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
              <DataTable
                label="Nodes"
                columns={columns}
                rows={nodes}
                rowKey={(node) => node.id}
                alert={nodeAlert}
                sub={(node) => {
                  const drain = drainOf(node);
                  return drain === undefined ? null : <DrainSummary drain={drain} />;
                }}
              />
            )
          }
        </Loaded>
      </section>
    </>
  );
}
