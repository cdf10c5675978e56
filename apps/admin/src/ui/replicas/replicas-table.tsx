"use client";

import type { ReplicaView } from "@llmgw/api";
import Link from "next/link";
import { useMemo } from "react";
import { Time } from "../data/time.tsx";
import type { Searchable } from "../find/find.ts";
import { FindBar, NothingFound } from "../find/find-bar.tsx";
import { useFind } from "../find/use-find.ts";
import { useSimulatedModels } from "../models/use-simulated.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { SimulatedMark } from "../parts/simulated.tsx";
import { sentence } from "../state/gpu-state.ts";
import { gpuRange, phaseState, replicaAlert, replicaStateOf } from "../state/replica-state.ts";
import { StatusBadge } from "../state/states.tsx";

/** The shards of the present start; those of an earlier one are only waiting to be confirmed gone. */
function presentShards(replica: ReplicaView): ReplicaView["shards"] {
  return replica.shards.filter((shard) => shard.generation === replica.generation);
}

const search: Searchable<ReplicaView> = {
  texts: (replica) => [
    ...[replica.id, replica.modelId, replica.reason === null ? "" : sentence(replica.reason)],
    ...presentShards(replica).map((shard) => shard.nodeName),
  ],
  states: (replica) => [phaseState(replica.phase).word],
};

const columnsOf = (simulated: ReadonlySet<string>): readonly Column<ReplicaView>[] => [
  {
    id: "replica",
    head: "Replica",
    rowHeader: true,
    className: "head is-long",
    sort: (replica) => replica.id,
    cell: (replica) => (
      <>
        <Link className="cell" href={paths.replica(replica.id)}>
          {replica.id}
        </Link>{" "}
        {simulated.has(replica.modelId) && <SimulatedMark />}
      </>
    ),
  },
  {
    id: "phase",
    head: "Phase",
    className: "nw top",
    sort: (replica) => phaseState(replica.phase).word,
    cell: (replica) => (
      <>
        <StatusBadge {...replicaStateOf(replica)} />
        <span className="sub">
          <Time at={replica.phaseSince} show="age" />
        </span>
      </>
    ),
  },
  {
    id: "model",
    head: "Model",
    className: "nw",
    card: "Model",
    sort: (replica) => replica.modelId,
    cell: (replica) => <TextLink href={paths.model(replica.modelId)}>{replica.modelId}</TextLink>,
  },
  {
    id: "shards",
    head: "Runs on",
    card: "Runs on",
    sort: (replica) => presentShards(replica)[0]?.nodeName ?? "",
    cell: (replica) =>
      presentShards(replica).length === 0 ? (
        <span className="faint">nowhere yet</span>
      ) : (
        presentShards(replica).map((shard) => (
          <span key={shard.rank} className="block nw">
            <TextLink href={paths.node(shard.nodeName)}>{shard.nodeName}</TextLink>{" "}
            <span className="faint">{gpuRange(shard.gpus.map((gpu) => gpu.index))}</span>
          </span>
        ))
      ),
  },
  {
    id: "inflight",
    head: "In flight",
    className: "r",
    card: "In flight",
    sort: (replica) => replica.routing.inflight,
    cell: (replica) => (replica.routing.state === null ? <span className="faint">–</span> : replica.routing.inflight),
  },
  {
    id: "start",
    head: "Start",
    className: "r lo",
    card: "Start",
    sort: (replica) => replica.generation,
    cell: (replica) => replica.generation,
  },
  {
    id: "why",
    head: "Why",
    className: "full",
    cell: (replica) =>
      replica.reason === null ? (
        <span className="faint off">–</span>
      ) : (
        <span className="wrap-anywhere">{sentence(replica.reason)}</span>
      ),
  },
];

interface ReplicasTableProps {
  readonly replicas: readonly ReplicaView[];
  /** With the line to filter by: for the page of all of them. */
  readonly findable?: boolean;
}

export function ReplicasTable({ replicas, findable = false }: ReplicasTableProps) {
  const simulated = useSimulatedModels();
  const columns = useMemo(() => columnsOf(simulated), [simulated]);
  const found = useFind(replicas, columns, search);
  if (replicas.length === 0) {
    return (
      <Empty title="There is no replica" command="npx llmgw ctl scale MODEL 1">
        Replicas appear when a model asks for them.
      </Empty>
    );
  }
  return (
    <>
      {findable && <FindBar found={found} what="replicas" />}
      {findable && found.rows.length === 0 ? (
        <NothingFound what="replicas" onClear={found.clear} />
      ) : (
        <DataTable
          label="Replicas"
          columns={columns}
          rows={findable ? found.rows : replicas}
          rowKey={(replica) => replica.id}
          alert={replicaAlert}
          {...(findable ? { sort: found } : {})}
        />
      )}
    </>
  );
}
