"use client";

import type { NodeView } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import { counted } from "../data/format.ts";
import { usePolling } from "../data/live.tsx";
import { Time } from "../data/time.tsx";
import { useTRPC } from "../data/trpc.ts";
import { DrainsTable } from "../drains/drains-table.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Facts, PageHeader, Panel, paths, TextLink } from "../parts/page.tsx";
import { SimulatedMark } from "../parts/simulated.tsx";
import { exclusionOf, healthOf } from "../state/gpu-state.ts";
import { decidedStateOf, livenessOf } from "../state/node-state.ts";
import { gpuRange, phaseState } from "../state/replica-state.ts";
import { ReasonChip, StateIcon, StatusBadge } from "../state/states.tsx";
import { GpusTable } from "./gpus-table.tsx";
import { NodeActions } from "./node-actions.tsx";
import { hardwareOf } from "./nodes.tsx";

type ShardOnNode = NodeView["shards"][number];

const owners = {
  operator: "an operator",
  drain: "a drain",
  health: "the health check",
  flapping: "the flapping guard",
} as const;

function shardColumns(node: NodeView): readonly Column<ShardOnNode>[] {
  const indexOf = new Map(node.gpus.map((gpu) => [gpu.uuid, gpu.index]));
  return [
    {
      id: "shard",
      head: "Shard",
      rowHeader: true,
      className: "head is-long",
      cell: (shard) => (
        <TextLink href={paths.replica(shard.replicaId)}>
          {shard.replicaId}/{shard.rank}
        </TextLink>
      ),
    },
    {
      id: "state",
      head: "Replica",
      className: "nw top",
      cell: (shard) => <StatusBadge {...phaseState(shard.replicaPhase, shard.loadRatio)} />,
    },
    {
      id: "model",
      head: "Model",
      card: "Model",
      cell: (shard) => <TextLink href={paths.model(shard.modelId)}>{shard.modelId}</TextLink>,
    },
    {
      id: "gpus",
      head: "GPUs",
      className: "nw",
      card: "GPUs",
      cell: (shard) => gpuRange(shard.gpuUuids.map((uuid) => indexOf.get(uuid) ?? null)),
    },
    { id: "run", head: "Start", className: "r t3 lo", card: "Start", cell: (shard) => shard.generation },
    {
      id: "pid",
      head: "Pid",
      className: "r t3",
      card: "Pid",
      cell: (shard) => shard.pid ?? <span className="faint">–</span>,
    },
    {
      id: "url",
      head: "Address",
      className: "lo",
      card: "Address",
      cell: (shard) => (shard.url === null ? <span className="faint">–</span> : <code>{shard.url}</code>),
    },
  ];
}

function Marks({ node }: { readonly node: NodeView }) {
  const bad = node.gpus.filter((gpu) => healthOf(gpu).state === "unhealthy").length;
  const unknown = node.gpus.filter((gpu) => healthOf(gpu).state === "unknown").length;
  const degraded = node.gpus.filter((gpu) => healthOf(gpu).state === "degraded").length;
  return (
    <>
      <StatusBadge {...decidedStateOf(node)} chip />
      {node.liveness !== "live" && node.availability !== "active" && <StatusBadge {...livenessOf(node)} chip />}
      {node.simulated && <SimulatedMark />}
      {bad > 0 && <ReasonChip state="unhealthy">{counted(bad, "GPU")} unhealthy</ReasonChip>}
      {unknown > 0 && <ReasonChip state="unknown">{counted(unknown, "GPU")} unknown</ReasonChip>}
      {degraded > 0 && <ReasonChip state="degraded">{counted(degraded, "GPU")} degraded</ReasonChip>}
    </>
  );
}

function Notices({ node }: { readonly node: NodeView }) {
  const out = node.gpus.filter((gpu) => !gpu.schedulable && healthOf(gpu).state !== "healthy");
  return (
    <>
      {node.liveness !== "live" && (
        <div className={`notice s-${livenessOf(node).state}`} role="note">
          <StateIcon state={livenessOf(node).state} size="ic-l" />
          <div>
            <p>
              <b>{node.liveness === "lost" ? "Its agent is lost." : "Its agent is silent."}</b>{" "}
              {node.lastSeenAt === null ? (
                "It has never reported."
              ) : (
                <>
                  Last heard <Time at={node.lastSeenAt} />.
                </>
              )}{" "}
              Everything below is what it said then.
            </p>
          </div>
        </div>
      )}
      {node.gpuProbeError !== null && (
        <div className="notice s-unhealthy" role="note">
          <StateIcon state="unhealthy" size="ic-l" />
          <div>
            <p>
              <b>Its GPUs cannot be read.</b> <code>{node.gpuProbeError}</code>
            </p>
          </div>
        </div>
      )}
      {out.map((gpu) => (
        <div key={gpu.uuid} className={`notice s-${healthOf(gpu).state}`} role="note">
          <StateIcon state={healthOf(gpu).state} size="ic-l" />
          <div>
            <p>
              <b>{exclusionOf(gpu)}.</b> {gpu.health.clears !== null && `Clears: ${gpu.health.clears}.`}
            </p>
            <p className="muted">The other GPUs of this node are not affected.</p>
          </div>
        </div>
      ))}
    </>
  );
}

function Cordons({ node }: { readonly node: NodeView }) {
  if (node.cordons.length === 0) {
    return (
      <Empty title="Nothing keeps new work away from this node">A cordon appears here with its owner and reason.</Empty>
    );
  }
  const gpuOf = (uuid: string) => node.gpus.find((gpu) => gpu.uuid === uuid)?.index ?? "?";
  return (
    <ul className="attn">
      {node.cordons.map((cordon) => (
        <li key={`${cordon.owner} ${cordon.gpuUuid} ${cordon.since}`} className="s-cordoned">
          <StateIcon state="cordoned" />
          <div>
            <h3>
              <b>{cordon.gpuUuid === null ? "The whole node" : `GPU ${gpuOf(cordon.gpuUuid)}`}</b>
              {cordon.reason !== "" && `: ${cordon.reason}`}
            </h3>
            <p>
              Set by {cordon.by}, kept by {owners[cordon.owner]}, since <Time at={cordon.since} />
            </p>
          </div>
          {cordon.drainId !== null && <TextLink href={paths.drain(cordon.drainId)}>Drain</TextLink>}
        </li>
      ))}
    </ul>
  );
}

function Orphans({ node }: { readonly node: NodeView }) {
  if (node.orphans.length === 0) return null;
  return (
    <Panel title="Engines that nobody asked for" text="The database does not know them; they run on.">
      <ul className="attn">
        {node.orphans.map((orphan) => (
          <li key={`${orphan.replicaId}/${orphan.rank}/${orphan.generation}`} className="s-unknown">
            <StateIcon state="unknown" />
            <div>
              <h3>
                <b>
                  {orphan.replicaId}/{orphan.rank}
                </b>
                , start {orphan.generation}
              </h3>
              <p>{orphan.pid === null ? "No pid reported" : `pid ${orphan.pid}`}</p>
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function NodeBody({ node }: { readonly node: NodeView }) {
  const trpc = useTRPC();
  const drains = useQuery({ ...trpc.drains.list.queryOptions({ node: node.name }), ...usePolling() });
  const labels = Object.entries(node.labels).map(([name, value]) => `${name}=${value}`);
  const engines = node.engines.map((engine) => `${engine.name} ${engine.version ?? "(version unknown)"}`);
  const health = new Map<string, number>();
  for (const gpu of node.gpus) health.set(healthOf(gpu).word, (health.get(healthOf(gpu).word) ?? 0) + 1);
  return (
    <>
      <PageHeader title={node.name} marks={<Marks node={node} />} actions={<NodeActions node={node} />} />
      <Facts
        facts={[
          ["Address", node.address],
          ["Hardware", hardwareOf(node)],
          [
            "Schedulable",
            `${node.gpus.filter((gpu) => gpu.schedulable).length} of ${counted(node.gpus.length, "GPU")}`,
          ],
          ["Labels", labels.length === 0 ? "none" : labels.join(", ")],
          ["Engines", engines.length === 0 ? "none found" : engines.join(", ")],
          ["Agent", node.agentVersion],
          ["Heard", node.lastSeenAt === null ? "never" : <Time key="heard" at={node.lastSeenAt} />],
          ["Joined", <Time key="joined" at={node.registeredAt} />],
        ]}
      />
      <Notices node={node} />
      <Panel
        title="GPUs"
        text={[...health].map(([word, count]) => `${count} ${word.toLowerCase()}`).join(", ")}
        side={
          <ul className="legend">
            <li>
              <span className="swatch is-mem" />
              ours
            </li>
            <li className="s-degraded">
              <span className="swatch is-foreign" />
              not ours
            </li>
          </ul>
        }
      >
        <GpusTable node={node} />
      </Panel>
      <Panel title="Shards here" text={counted(node.shards.length, "engine process", "engine processes")}>
        {node.shards.length === 0 ? (
          <Empty title="Nothing runs here">
            Placement puts replicas here when they fit and nothing keeps them away.
          </Empty>
        ) : (
          <DataTable
            label={`Shards on ${node.name}`}
            columns={shardColumns(node)}
            rows={node.shards}
            rowKey={(shard) => `${shard.replicaId}/${shard.rank}/${shard.generation}`}
          />
        )}
      </Panel>
      <Orphans node={node} />
      <div className="cols is-even">
        <Panel title="Cordons">
          <Cordons node={node} />
        </Panel>
        <Panel title="Drain history">
          <Loaded query={drains} what="this node's drains">
            {(view) =>
              view.length === 0 ? (
                <Empty title="It has never been drained" command={`npx llmgw ctl drain ${node.name} --dry-run`}>
                  A dry run prints what a drain would move.
                </Empty>
              ) : (
                <DrainsTable drains={view} ofOneNode />
              )
            }
          </Loaded>
        </Panel>
      </div>
    </>
  );
}

/** One node: what it is, what its GPUs say, what runs on it and what was decided about it. */
export function Node({ name }: { readonly name: string }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.nodes.get.queryOptions({ node: name }), ...usePolling() });
  return (
    <>
      {query.data === undefined && <PageHeader title={name} />}
      <Loaded query={query} what={`node ${name}`} rows={8}>
        {(node) => <NodeBody node={node} />}
      </Loaded>
    </>
  );
}
