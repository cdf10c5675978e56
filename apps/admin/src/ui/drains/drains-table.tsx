import type { DrainView } from "@llmgw/api";
import Link from "next/link";
import { duration } from "../data/format.ts";
import { Time } from "../data/time.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { drainStateOf } from "../state/drain-state.ts";
import { StatusBadge } from "../state/states.tsx";
import { DrainBar } from "./drain-bar.tsx";

function lasted(drain: DrainView): string | null {
  return drain.endedAt === null ? null : duration(Date.parse(drain.endedAt) - Date.parse(drain.startedAt));
}

const started: Column<DrainView> = {
  id: "started",
  head: "Started",
  card: "Started",
  cell: (drain) => (
    <>
      <Time at={drain.startedAt} />
      <span className="sub">
        by {drain.by}
        {lasted(drain) !== null && `, took ${lasted(drain)}`}
      </span>
    </>
  ),
};

const state: Column<DrainView> = {
  id: "state",
  head: "State",
  className: "nw top",
  cell: (drain) => (
    <>
      <StatusBadge {...drainStateOf(drain)} />
      {drain.losses.length > 0 && <span className="sub">{drain.losses.length} lost</span>}
    </>
  ),
};

const columns: readonly Column<DrainView>[] = [
  {
    id: "node",
    head: "Node",
    rowHeader: true,
    className: "head",
    cell: (drain) => (
      <>
        <Link className="cell" href={paths.drain(drain.id)}>
          {drain.nodeName}
        </Link>
        {drain.reason !== "" && <span className="sub">{drain.reason}</span>}
      </>
    ),
  },
  state,
  {
    id: "moves",
    head: "Replicas",
    className: "full",
    cell: (drain) => (
      <span className="grid gap-1 min-w-[120px] max-w-[320px]">
        <span className="num">
          {drain.moves.filter((move) => move.step === "stopped" && !move.lost).length} of {drain.moves.length} moved
        </span>
        <DrainBar drain={drain} />
      </span>
    ),
  },
  started,
  {
    id: "deadline",
    head: "Grace ends",
    className: "lo",
    card: "Grace ends",
    cell: (drain) => <Time at={drain.deadlineAt} show="absolute" />,
  },
];

const columnsOfOneNode: readonly Column<DrainView>[] = [
  {
    id: "drain",
    head: "Drain",
    rowHeader: true,
    className: "head",
    cell: (drain) => (
      <TextLink href={paths.drain(drain.id)}>
        <Time at={drain.startedAt} show="absolute" />
      </TextLink>
    ),
  },
  state,
  {
    id: "by",
    head: "By",
    card: "By",
    cell: (drain) => (
      <>
        {drain.by}
        {drain.reason !== "" && <span className="sub">{drain.reason}</span>}
      </>
    ),
  },
  { id: "took", head: "Took", className: "nw", card: "Took", cell: (drain) => lasted(drain) ?? "running" },
];

interface DrainsTableProps {
  readonly drains: readonly DrainView[];
  readonly ofOneNode?: boolean;
}

/** Drains, newest first. */
export function DrainsTable({ drains, ofOneNode = false }: DrainsTableProps) {
  return (
    <DataTable
      label="Drains"
      columns={ofOneNode ? columnsOfOneNode : columns}
      rows={[...drains].sort((a, b) => b.startedAt.localeCompare(a.startedAt))}
      rowKey={(drain) => drain.id}
      alert={(drain) => (drain.endedAt === null ? "draining" : null)}
    />
  );
}
