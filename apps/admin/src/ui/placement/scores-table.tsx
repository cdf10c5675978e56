import type { NodeCandidate, PlacementRecord } from "@llmgw/domain";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { vars } from "../parts/memory-bar.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { StatusBadge } from "../state/states.tsx";

function places(record: PlacementRecord): { readonly winner: string | null; readonly second: string | null } {
  return record.outcome.kind === "placed"
    ? { winner: record.outcome.nodeName, second: record.outcome.runnerUp }
    : { winner: null, second: null };
}

/** `recent_failures` as `Recent failures`. */
function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function columnsOf(record: PlacementRecord, accepted: readonly NodeCandidate[]): readonly Column<NodeCandidate>[] {
  const { winner, second } = places(record);
  const parts = accepted[0]?.scoreParts ?? [];
  const most = Math.max(
    1,
    parts.reduce((sum, part) => sum + Math.abs(part.weight), 0),
  );
  return [
    {
      id: "node",
      head: "Candidate",
      rowHeader: true,
      className: "head",
      cell: (node) => <TextLink href={paths.node(node.nodeName)}>{node.nodeName}</TextLink>,
    },
    ...parts.map(
      (part): Column<NodeCandidate> => ({
        id: part.name,
        head: `${titleOf(part.name)}, max ${part.weight}`,
        className: "r",
        card: titleOf(part.name),
        cell: (node) => {
          const own = node.scoreParts.find((each) => each.name === part.name);
          if (own === undefined) return "–";
          return (
            <>
              {own.points.toFixed(2)}
              <span className="sub wraps">{own.words}</span>
            </>
          );
        },
      }),
    ),
    {
      id: "score",
      head: "Score",
      className: "full",
      cell: (node) => (
        <span className="score min-w-[140px]">
          <span className="score-t" aria-hidden>
            {node.scoreParts.map((part) => (
              <i key={part.name} style={vars({ "--v": Math.max(0, part.points) / most })} />
            ))}
          </span>
          <b className="r num">{(node.score ?? 0).toFixed(2)}</b>
        </span>
      ),
    },
    {
      id: "result",
      head: "Result",
      className: "nw top",
      cell: (node) =>
        node.nodeName === winner ? (
          <StatusBadge state="healthy" word="Winner" />
        ) : (
          <span className="muted">{node.nodeName === second ? "Runner-up" : "–"}</span>
        ),
    },
  ];
}

/** The candidates that passed every check, with the parts of their scores. */
export function ScoresTable({ record }: { readonly record: PlacementRecord }) {
  const accepted = record.candidates.filter((node) => node.accepted).sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
  if (accepted.length === 0) return <Empty title="No candidate passed every check, so none is scored" />;
  return (
    <DataTable
      label="Scores"
      columns={columnsOf(record, accepted)}
      rows={accepted}
      rowKey={(node) => node.nodeId}
      alert={(node) => (node.nodeName === places(record).winner ? "healthy" : null)}
    />
  );
}
