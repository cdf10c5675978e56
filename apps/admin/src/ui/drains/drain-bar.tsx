"use client";

import type { DrainView, MoveView } from "@llmgw/api";
import Link from "next/link";
import { countdown } from "../data/format.ts";
import { useNow } from "../data/live.tsx";
import { share, vars } from "../parts/memory-bar.tsx";
import { paths } from "../parts/page.tsx";
import { byProgress, isBlocked, moveStateOf } from "../state/drain-state.ts";
import { type StateName, StatusBadge } from "../state/states.tsx";

type Kind = "moved" | "lost" | "draining" | "serving" | "loading" | "queued" | "blocked";

const kinds: readonly (readonly [Kind, StateName, string])[] = [
  ["moved", "healthy", "moved"],
  ["lost", "failed", "lost"],
  ["draining", "draining", "draining"],
  ["serving", "moving", "with its replacement serving"],
  ["loading", "starting", "loading"],
  ["queued", "queued", "queued"],
  ["blocked", "blocked", "cannot move"],
];

function kindOf(move: MoveView): Kind {
  if (move.step === "stopped") return move.lost ? "lost" : "moved";
  if (isBlocked(move)) return "blocked";
  if (move.step === "draining" || move.step === "stopping") return "draining";
  if (move.step === "replacementServing") return "serving";
  return move.step === "queued" ? "queued" : "loading";
}

function counts(drain: DrainView): readonly { readonly state: StateName; readonly words: string }[] {
  return kinds
    .map(([kind, state, word]) => ({ state, word, many: drain.moves.filter((move) => kindOf(move) === kind).length }))
    .filter(({ many }) => many > 0)
    .map(({ state, word, many }) => ({ state, words: `${many} ${word}` }));
}

/** One segment per replica. It counts replicas, not time. */
export function DrainBar({ drain }: { readonly drain: DrainView }) {
  const spoken = counts(drain)
    .map(({ words }) => words)
    .join(", ");
  return (
    <div className="segbar" role="img" aria-label={spoken === "" ? "nothing to move" : `Replicas: ${spoken}`}>
      {drain.moves.length === 0 && <i className={drain.endedAt === null ? "s-draining" : "s-healthy"} />}
      {byProgress(drain.moves).map((move) => {
        const state = kindOf(move) === "blocked" ? "blocked" : moveStateOf(move).state;
        const ratio = move.step === "loading" ? move.loadRatio : null;
        return (
          <i
            key={move.replicaId}
            className={`s-${state} ${ratio === null ? "" : "is-part"}`}
            style={ratio === null ? undefined : vars({ "--p": share(ratio, 1) })}
          />
        );
      })}
    </div>
  );
}

export function DrainCounts({ drain }: { readonly drain: DrainView }) {
  return (
    <>
      {counts(drain).map(({ state, words }) => (
        <StatusBadge key={words} state={state} word={words} />
      ))}
    </>
  );
}

/** A drain in two lines, for a node's row. */
export function DrainSummary({ drain }: { readonly drain: DrainView }) {
  const now = useNow();
  return (
    <div className="grid gap-1.5 pb-1.5 max-w-[980px]">
      <DrainBar drain={drain} />
      <div className="flex flex-wrap gap-x-4 gap-y-0.5">
        <DrainCounts drain={drain} />
        <span className="muted">
          grace ends in <span className="countdown text-(--text)">{countdown(Date.parse(drain.deadlineAt) - now)}</span>
        </span>
        <Link className="link" href={paths.drain(drain.id)}>
          View progress<span className="vh"> of {drain.nodeName}</span>
        </Link>
      </div>
    </div>
  );
}
