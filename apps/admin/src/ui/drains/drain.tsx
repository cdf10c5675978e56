"use client";

import type { DrainView, ModelView } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { clock, countdown, counted, duration } from "../data/format.ts";
import { useNow, usePolling } from "../data/live.tsx";
import { Time } from "../data/time.tsx";
import { useTRPC } from "../data/trpc.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { share, vars } from "../parts/memory-bar.tsx";
import { PageHeader, Panel, paths, TextLink } from "../parts/page.tsx";
import { ReplicaCount } from "../parts/replica-count.tsx";
import { byProgress, drainStateOf, isBlocked } from "../state/drain-state.ts";
import { sentence } from "../state/gpu-state.ts";
import { StateIcon, StatusBadge } from "../state/states.tsx";
import { DrainActions } from "./drain-actions.tsx";
import { DrainBar, DrainCounts } from "./drain-bar.tsx";
import { eventWords } from "./event-words.ts";
import { MoveItem } from "./move-item.tsx";

/** When the grace ends, and what happens then. It counts on the cluster's clock, so every tab shows the same. */
function GracePanel({ drain }: { readonly drain: DrainView }) {
  const now = useNow();
  const from = Date.parse(drain.startedAt);
  const until = Date.parse(drain.deadlineAt);
  const stuck = drain.moves.filter((move) => isBlocked(move) && move.step !== "stopped");
  const isOver = now >= until;
  return (
    <Panel title={isOver ? "The grace is over" : "Grace ends in"}>
      <div className="panel-b">
        <p className="countdown is-l mb-2!" data-testid="grace-countdown">
          {countdown(until - now)}
        </p>
        <div
          className="grace"
          role="img"
          aria-label={`${duration(Math.min(now, until) - from)} of ${duration(until - from)} used`}
        >
          <i style={vars({ "--p": share(Math.min(now, until) - from, until - from) })} />
        </div>
        <p className="grace-n">
          <time dateTime={drain.startedAt}>{clock(drain.startedAt)}</time>
          <time dateTime={drain.deadlineAt}>{clock(drain.deadlineAt)} UTC</time>
        </p>
        <p className="sm muted">
          {stuck.length === 0
            ? "Nothing waits for it: what still moves goes on by itself. Requests in flight always finish."
            : `Then ${stuck.map((move) => move.replicaId).join(", ")} ${stuck.length === 1 ? "drains" : "drain"} with no replacement, unless room appears first. Requests in flight still finish.`}
        </p>
      </div>
    </Panel>
  );
}

function ResultPanel({ drain }: { readonly drain: DrainView }) {
  const state = drainStateOf(drain);
  return (
    <div className={`verdict s-${state.state}`}>
      <StateIcon state={state.state} />
      <div>
        <p>
          <b>
            {state.word}
            {drain.endedAt !== null && `, in ${duration(Date.parse(drain.endedAt) - Date.parse(drain.startedAt))}`}.
          </b>{" "}
          {drain.losses.length === 0 ? "No replica was ended without a replacement serving." : ""}
        </p>
        {drain.losses.map((loss) => (
          <p key={loss.replicaId}>
            <TextLink href={paths.replica(loss.replicaId)}>{loss.replicaId}</TextLink>: {sentence(loss.reason)}
          </p>
        ))}
        {drain.unconfirmedShards > 0 && (
          <p>
            {counted(drain.unconfirmedShards, "engine process", "engine processes")} on {drain.nodeName} are not
            confirmed gone.
          </p>
        )}
      </div>
    </div>
  );
}

function CapacityPanel({ drain }: { readonly drain: DrainView }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.models.list.queryOptions(), ...usePolling() });
  const names = new Set(drain.moves.map((move) => move.modelId));
  const rows = (models: readonly ModelView[]) => models.filter((model) => names.has(model.id));
  if (names.size === 0) return null;
  return (
    <Panel title="Able to serve" text="desired / placed / serving now">
      <Loaded query={query} what="the models">
        {(models) => (
          <table className="tb">
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col" className="r">
                  Replicas
                </th>
              </tr>
            </thead>
            <tbody>
              {rows(models).map((model) => (
                <tr
                  key={model.id}
                  className={model.serving + model.moving === 0 && model.desired > 0 ? "is-alert s-failed" : ""}
                >
                  <th scope="row" className="whitespace-normal! wrap-anywhere">
                    <TextLink href={paths.model(model.id)}>{model.id}</TextLink>
                  </th>
                  <td className="r">
                    <ReplicaCount model={model} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </Panel>
  );
}

function HistoryPanel({ drain }: { readonly drain: DrainView }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.audit.list.queryOptions({ cause: drain.id, limit: 20 }), ...usePolling(3000) });
  return (
    <Panel
      title="What happened"
      side={
        <Link className="link sm" href={paths.auditOf(drain.id)}>
          Audit
        </Link>
      }
    >
      <Loaded query={query} what="the audit of this drain">
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="Nothing yet">Each move that this drain causes is written here.</Empty>
          ) : (
            <ol className="events panel-b">
              {rows.map((row) => (
                <li key={row.seq}>
                  <time dateTime={row.at}>{clock(row.at)}</time>
                  <span className="wrap-anywhere">
                    <b>{row.actor}</b> {eventWords(row)}
                  </span>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Panel>
  );
}

function DrainBody({ drain }: { readonly drain: DrainView }) {
  const isOpen = drain.endedAt === null;
  return (
    <>
      <PageHeader
        title={drain.nodeName}
        marks={<StatusBadge {...drainStateOf(drain)} chip />}
        text={
          <>
            {drain.reason !== "" && <>{drain.reason}. </>}
            Drain started by {drain.by} at <Time at={drain.startedAt} />.{" "}
            {drain.forcedAt !== null && (
              <>
                Forced by {drain.forcedBy} at <Time at={drain.forcedAt} />.{" "}
              </>
            )}
            <TextLink href={paths.node(drain.nodeName)}>Node</TextLink>
          </>
        }
        {...(isOpen ? { actions: <DrainActions drain={drain} /> } : {})}
      />
      {!isOpen && <ResultPanel drain={drain} />}
      {isOpen && drain.waitingFor !== null && drain.moves.every((move) => move.step === "stopped") && (
        <div className="notice s-draining" role="note">
          <StateIcon state="queued" size="ic-l" />
          <div>
            <p>{sentence(drain.waitingFor)}.</p>
          </div>
        </div>
      )}
      <div className="cols is-main-side">
        <Panel title="Moves" text="The bar counts replicas, not time.">
          <div className="panel-b grid gap-2 border-b border-(--border)">
            <DrainBar drain={drain} />
            <div className="flex flex-wrap gap-x-4 gap-y-1 sm">
              <DrainCounts drain={drain} />
              {isOpen && drain.unconfirmedShards > 0 && (
                <span className="muted">
                  {counted(drain.unconfirmedShards, "engine process", "engine processes")} still on the node
                </span>
              )}
            </div>
          </div>
          {drain.moves.length === 0 ? (
            <Empty title="Nothing ran on it, so nothing has to move" />
          ) : (
            <ol aria-label="Moves">
              {byProgress(drain.moves).map((move) => (
                <MoveItem key={move.replicaId} drain={drain} move={move} />
              ))}
            </ol>
          )}
        </Panel>
        <div className="grid gap-4 min-w-0">
          {isOpen && <GracePanel drain={drain} />}
          <CapacityPanel drain={drain} />
          <HistoryPanel drain={drain} />
        </div>
      </div>
    </>
  );
}

/** One drain: where each replica is, why it waits, when the grace ends, and how it came out. */
export function Drain({ id }: { readonly id: string }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.drains.get.queryOptions({ drain: id }), ...usePolling() });
  return (
    <>
      {query.data === undefined && <PageHeader title="Drain" />}
      <Loaded query={query} what="this drain" rows={8}>
        {(drain) => <DrainBody drain={drain} />}
      </Loaded>
    </>
  );
}
