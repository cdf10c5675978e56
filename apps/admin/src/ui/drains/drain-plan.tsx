import type { DrainPreview } from "@llmgw/api";
import { ArrowRight, CircleX } from "lucide-react";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { sentence } from "../state/gpu-state.ts";
import { StateIcon, StatusBadge } from "../state/states.tsx";
import { modelsAtZero, stuckMoves } from "./plan-words.ts";

type PlannedMove = DrainPreview["moves"][number];

const moveColumns: readonly Column<PlannedMove>[] = [
  { id: "replica", head: "Replica", rowHeader: true, className: "head", cell: (move) => move.replicaId },
  {
    id: "to",
    head: "Moves to",
    className: "full",
    card: "Moves to",
    cell: (move) => (
      <>
        {move.outcome === "stops_at_once" ? (
          <span className="muted">stops at once, it serves nothing</span>
        ) : (
          <span className="inline-flex items-center gap-1.5">
            <ArrowRight className="ic ic-s" aria-hidden />
            {move.target ?? "when there is room"}
          </span>
        )}
        {move.reason !== null && <span className="sub wraps">{sentence(move.reason)}</span>}
      </>
    ),
  },
  { id: "inflight", head: "In flight", className: "r", card: "In flight", cell: (move) => move.inflight },
];

/** What moves where, and what cannot move and why. */
export function PlannedMoves({ plan }: { readonly plan: DrainPreview }) {
  const stuck = stuckMoves(plan);
  const others = plan.moves.filter((move) => move.outcome !== "cannot_move");
  return (
    <div className="grid gap-3.5 min-w-0 content-start">
      {others.length > 0 && (
        <section className="sect">
          <header>
            <h3>Moves</h3>
            <span>estimated now, in this order</span>
          </header>
          <div className="panel">
            <DataTable label="Moves" columns={moveColumns} rows={others} rowKey={(move) => move.replicaId} />
          </div>
        </section>
      )}
      {stuck.length > 0 && (
        <section className="sect">
          <header>
            <h3 className="s-blocked fg inline-flex items-center gap-1.5">
              <StateIcon state="blocked" />
              Cannot move
            </h3>
          </header>
          <ul className="blockbox mt-0!">
            {stuck.map((move) => (
              <li key={move.replicaId} className="grid-cols-1! gap-0.5!">
                <b>
                  {move.replicaId}
                  <span className="muted font-normal">, {move.inflight} in flight</span>
                </b>
                <span>{move.reason === null ? "The plan names no reason." : `${sentence(move.reason)}.`}</span>
                <span>
                  <TextLink href={paths.explain(move.modelId)}>Every candidate, every check</TextLink>
                </span>
              </li>
            ))}
          </ul>
          <p className="sm muted">It moves as soon as room appears before the grace ends.</p>
        </section>
      )}
      {plan.moves.length === 0 && <StatusBadge state="healthy" word="No replica has to move" />}
    </div>
  );
}

/** How many replicas of each model can serve: now, at the worst moment, at the end. */
export function PlannedCapacity({ plan }: { readonly plan: DrainPreview }) {
  if (plan.models.length === 0) return null;
  const zero = modelsAtZero(plan);
  const count = (many: number, wasServing: boolean) =>
    many === 0 && wasServing ? (
      <span className="s-failed fg strong nw">
        0 <CircleX className="ic ic-s" aria-label="none left" />
      </span>
    ) : (
      many
    );
  return (
    <section className="sect">
      <header>
        <h3>Replicas able to serve</h3>
        <span>now, at worst, after</span>
      </header>
      <div className="panel">
        <table className="tb">
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col" className="r">
                Now
              </th>
              <th scope="col" className="r">
                At worst
              </th>
              <th scope="col" className="r">
                After
              </th>
            </tr>
          </thead>
          <tbody>
            {plan.models.map((model) => (
              <tr key={model.modelId} className={zero.includes(model.modelId) ? "is-alert s-failed" : ""}>
                <th scope="row" className="wrap-anywhere whitespace-normal!">
                  {model.modelId}
                </th>
                <td className="r">{model.servingBefore}</td>
                <td className="r">{count(model.servingLowest, model.servingBefore > 0)}</td>
                <td className="r">{count(model.servingAfter, model.servingBefore > 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
