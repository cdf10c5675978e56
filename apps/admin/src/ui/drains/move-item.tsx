"use client";

import type { DrainView, MoveView } from "@llmgw/api";
import { ArrowRight, Check } from "lucide-react";
import { clock, countdown, duration } from "../data/format.ts";
import { useNow } from "../data/live.tsx";
import { share, vars } from "../parts/memory-bar.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { isBlocked, moveStateOf, type ShownStep, shownStep, stepNames, stepWords } from "../state/drain-state.ts";
import { sentence } from "../state/gpu-state.ts";
import { StateIcon, StatusBadge } from "../state/states.tsx";

function Step({ move, step }: { readonly move: MoveView; readonly step: ShownStep }) {
  const current = shownStep(move);
  const position = stepNames.indexOf(step) - stepNames.indexOf(current);
  const at = move.stepAt[step];
  const isOver = move.step === "stopped";
  // A step without a time was passed within one decision, unless there is no replacement: a replica that serves nothing
  // goes from queued to stopping, and what lies between was skipped.
  const isPassed = at !== undefined || move.replacementId !== null;
  const isDone = isPassed && (position < 0 || isOver);
  const isNow = position === 0 && !isOver;
  const state = moveStateOf(move);
  const ratio = isNow && step === "loading" ? move.loadRatio : null;
  const classes = ["step", isDone && "is-done", isNow && `is-now s-${state.state}`, ratio !== null && "has-progress"];
  return (
    <li
      className={classes.filter((name) => name !== false).join(" ")}
      aria-current={isNow ? "step" : undefined}
      style={ratio === null ? undefined : vars({ "--p": share(ratio, 1) })}
    >
      <span className="dot">
        {isDone && <Check className="ic" aria-hidden />}
        {isNow && <StateIcon state={state.state} />}
      </span>
      <b>{isNow ? state.word : stepWords[step]}</b>
      <small>
        {at !== undefined && (
          <time dateTime={at} title={at}>
            {isNow && "since "}
            {clock(at)}
          </time>
        )}
        {isDone && <span className="vh">, done</span>}
      </small>
    </li>
  );
}

interface MoveItemProps {
  readonly drain: DrainView;
  readonly move: MoveView;
}

/** One replica's way off the node: which steps it has done and when, where it is, and why it waits if it waits. */
export function MoveItem({ drain, move }: MoveItemProps) {
  const now = useNow();
  const state = moveStateOf(move);
  const blocked = isBlocked(move) && move.step !== "stopped";
  const times = Object.values(move.stepAt).map((at) => Date.parse(at));
  const took = move.step === "stopped" && times.length > 0 ? Math.max(...times) - Math.min(...times) : null;
  return (
    <li className={`move ${blocked ? "is-blocked" : ""}`}>
      <div className="move-h">
        <h3>
          <TextLink href={paths.replica(move.replicaId)}>{move.replicaId}</TextLink>
        </h3>
        <span className="to">
          <ArrowRight className="ic ic-s" aria-label="to" />
          {move.replacementId !== null && (
            <TextLink href={paths.replica(move.replacementId)}>{move.replacementId}</TextLink>
          )}
          {move.target ?? (move.step === "stopped" ? "no replacement" : "no place yet")}
        </span>
        <span className="now">{took !== null && `${duration(took)} in all`}</span>
      </div>
      <ol className="stepper">
        {stepNames.map((step) => (
          <Step key={step} move={move} step={step} />
        ))}
      </ol>
      <p className="move-now">
        <StatusBadge {...state} />
      </p>
      {blocked ? (
        <div className="blockbox">
          <p>
            <b>{move.reason === null ? "It fits nowhere just now" : sentence(move.reason)}.</b> It serves until then,{" "}
            {move.inflight} in flight, and{" "}
            <b>
              stops at {clock(drain.deadlineAt)} UTC, in{" "}
              <span className="countdown">{countdown(Date.parse(drain.deadlineAt) - now)}</span>
            </b>
            , unless room appears.
          </p>
          <p>
            <TextLink href={paths.explain(move.modelId)}>Every candidate, every check</TextLink>
          </p>
        </div>
      ) : (
        move.reason !== null && <p className="sm muted mt-2!">{sentence(move.reason)}.</p>
      )}
    </li>
  );
}
