import type { ReplicaView, ShardView } from "@llmgw/api";
import { duration, gib } from "../data/format.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { gpuRange, percent } from "../state/replica-state.ts";
import { type StateWord, StatusBadge } from "../state/states.tsx";

type Observed = NonNullable<ShardView["observed"]>;

const phases: Readonly<Record<Observed["phase"], StateWord>> = {
  starting: { state: "starting", word: "Loading" },
  ready: { state: "serving", word: "Ready" },
  stopping: { state: "draining", word: "Stopping" },
  exited: { state: "stopped", word: "Exited" },
  stuck: { state: "failed", word: "Stuck" },
};

/** An agent reports every few seconds; older words than this are marked as old. */
const freshMs = 15_000;

function ShardState({ shard, hasStopped }: { readonly shard: ShardView; readonly hasStopped: boolean }) {
  const { observed } = shard;
  if (observed === null && hasStopped) return <StatusBadge state="stopped" word="Gone, its agent confirmed" />;
  if (observed === null) return <StatusBadge state="pending" word="Not reported yet" />;
  const known = phases[observed.phase];
  const word =
    observed.phase === "starting" && observed.loadRatio !== null
      ? `Loading ${percent(observed.loadRatio)}`
      : known.word;
  return (
    <>
      <StatusBadge state={known.state} word={word} />
      <span className={`sub ${observed.ageMs > freshMs ? "stale" : ""}`}>
        said {duration(observed.ageMs)} ago{observed.loadMessage === null ? "" : `: ${observed.loadMessage}`}
      </span>
    </>
  );
}

function Load({ observed }: { readonly observed: Observed | null }) {
  if (observed === null || observed.running === null) return <span className="faint">–</span>;
  return (
    <>
      {observed.running} running{observed.waiting === null ? "" : `, ${observed.waiting} waiting`}
    </>
  );
}

function columnsOf(replica: ReplicaView): readonly Column<ShardView>[] {
  return [
    {
      id: "rank",
      head: "Shard",
      rowHeader: true,
      className: "head",
      cell: (shard) => (
        <>
          Shard {shard.rank}
          <span className="sub">
            {shard.rank === 0 ? "head" : `rank ${shard.rank}`}
            {shard.generation !== replica.generation && `, of start ${shard.generation}`}
          </span>
        </>
      ),
    },
    {
      id: "state",
      head: "State now",
      className: "top",
      cell: (shard) => <ShardState shard={shard} hasStopped={replica.phase === "stopped"} />,
    },
    {
      id: "node",
      head: "Node, GPUs",
      card: "Node, GPUs",
      cell: (shard) => (
        <>
          <TextLink href={paths.node(shard.nodeName)}>{shard.nodeName}</TextLink>
          <span className="sub">{gpuRange(shard.gpus.map((gpu) => gpu.index))}</span>
        </>
      ),
    },
    { id: "load", head: "Load", className: "nw", card: "Load", cell: (shard) => <Load observed={shard.observed} /> },
    {
      id: "pid",
      head: "Pid",
      className: "r t3",
      card: "Pid",
      cell: (shard) => shard.observed?.pid ?? <span className="faint">–</span>,
    },
    {
      id: "claim",
      head: "Claim",
      className: "r nw t3",
      card: "Claim",
      cell: (shard) => `${shard.gpus.length} × ${gib(shard.memoryMibPerGpu)}`,
    },
    {
      id: "url",
      head: "Address",
      className: "full",
      card: "Address",
      cell: (shard) => (shard.observed?.url ? <code>{shard.observed.url}</code> : <span className="faint">–</span>),
    },
  ];
}

/** The engine processes a replica is made of. They serve together or not at all. */
export function ShardsTable({ replica }: { readonly replica: ReplicaView }) {
  if (replica.shards.length === 0) {
    return <Empty title="It has no shard">A shard appears when the replica has been placed on a node.</Empty>;
  }
  return (
    <DataTable
      label={`Shards of ${replica.id}`}
      columns={columnsOf(replica)}
      rows={[...replica.shards].sort((a, b) => b.generation - a.generation || a.rank - b.rank)}
      rowKey={(shard) => `${shard.generation}/${shard.rank}`}
      alert={(shard) => (shard.observed?.phase === "stuck" ? "failed" : null)}
    />
  );
}
