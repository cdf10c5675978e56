"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { counted } from "../data/format.ts";
import { useCluster, useNow, usePolling } from "../data/live.tsx";
import { useTRPC } from "../data/trpc.ts";
import { ModelsTable } from "../models/models-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Panel } from "../parts/page.tsx";
import { StateIcon, type StateName } from "../state/states.tsx";
import { type Attention, attentionOf, type OverviewFacts } from "./attention.ts";
import { HealthSentence } from "./health-sentence.tsx";
import { Rack } from "./rack.tsx";

const legend: readonly (readonly [StateName, string])[] = [
  ["serving", "Serving"],
  ["starting", "Loading"],
  ["moving", "Moving"],
  ["draining", "Draining"],
  ["cordoned", "Cordoned"],
  ["unhealthy", "Unhealthy"],
  ["unknown", "Unknown"],
];

/** The cluster at a glance: one sentence, what needs a look, what runs where, which models answer. */
export function Overview() {
  const trpc = useTRPC();
  const polling = usePolling();
  const nowMs = useNow();
  const cluster = useCluster();
  const nodes = useQuery({ ...trpc.nodes.list.queryOptions(), ...polling });
  const models = useQuery({ ...trpc.models.list.queryOptions(), ...polling });
  const replicas = useQuery({ ...trpc.replicas.list.queryOptions({}), ...polling });
  const drains = useQuery({ ...trpc.drains.list.queryOptions({ open: true }), ...polling });
  const routers = useQuery({ ...trpc.routers.list.queryOptions(), ...polling });
  const facts: OverviewFacts | null =
    cluster.data === undefined || nodes.data === undefined || models.data === undefined
      ? null
      : {
          cluster: cluster.data,
          nodes: nodes.data,
          models: models.data,
          replicas: replicas.data ?? [],
          drains: drains.data ?? [],
          routers: routers.data ?? [],
          nowMs,
        };
  return (
    <>
      <header className="headline">{facts === null ? <h1>Overview</h1> : <HealthSentence facts={facts} />}</header>
      <Loaded query={cluster} what="the cluster" rows={1}>
        {(view) => (
          <dl className="stats">
            <Stat name="Nodes" value={`${view.nodes.live} live`}>
              {view.nodes.draining > 0 && ` · ${view.nodes.draining} draining`}
              {view.nodes.cordoned > 0 && ` · ${view.nodes.cordoned} cordoned`}
              {` · ${view.nodes.total} in all`}
            </Stat>
            <Stat name="GPUs" value={`${view.gpus.usable} usable`}>
              {view.gpus.usable < view.gpus.total && ` · ${view.gpus.total - view.gpus.usable} take no new work`}
              {` · ${view.gpus.total} in all`}
            </Stat>
            <Stat name="Replicas" value={`${view.replicas.serving} serving`}>{` · ${view.replicas.total} in all`}</Stat>
            <Stat name="Routers" value={`${view.routers.live} live`}>
              {view.routers.silent > 0 && ` · ${view.routers.silent} silent`}
            </Stat>
          </dl>
        )}
      </Loaded>
      <div className="cols is-main-side is-side-first">
        <Panel title="Topology" text="Nodes are rows, GPUs are tiles.">
          <div className="panel-b">
            <Loaded query={nodes} what="the nodes" rows={6}>
              {(view) =>
                view.length === 0 ? (
                  <Empty
                    title="No node has joined yet"
                    command="LLMGW_ADMIN_URL=http://ADMIN:7070 LLMGW_JOIN_TOKEN=TOKEN npx llmgw agent"
                  >
                    Start an agent on a GPU machine with a join token.
                  </Empty>
                ) : (
                  <Rack nodes={view} />
                )
              }
            </Loaded>
          </div>
          <div className="panel-f">
            <ul className="legend">
              {legend.map(([state, word]) => (
                <li key={state} className={`s-${state}`}>
                  <StateIcon state={state} />
                  {word}
                </li>
              ))}
              <li>
                <span className="swatch is-free" />
                Free
              </li>
              <li>
                <span className="swatch is-mem" />
                Memory claimed
              </li>
            </ul>
          </div>
        </Panel>
        <AttentionPanel facts={facts} />
      </div>
      <Panel title="Models" text="Desired, placed and serving are three different numbers.">
        <Loaded query={models} what="the models">
          {(view) => <ModelsTable models={view} />}
        </Loaded>
      </Panel>
    </>
  );
}

interface StatProps {
  readonly name: string;
  readonly value: string;
  readonly children?: ReactNode;
}

function Stat({ name, value, children }: StatProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        <span>{children}</span>
      </dd>
    </div>
  );
}

function AttentionPanel({ facts }: { readonly facts: OverviewFacts | null }) {
  const items = facts === null ? [] : attentionOf(facts);
  return (
    <Panel
      title="Needs attention"
      side={<span className="sm muted">{items.length > 0 && `${items.length}, worst first`}</span>}
    >
      {facts !== null && items.length === 0 ? (
        <Empty title="Nothing needs a look">
          {facts.nodes.length === 0
            ? "There is nothing to watch yet."
            : `${counted(facts.nodes.length, "node")} and ${counted(facts.models.length, "model")} are as they should be.`}
        </Empty>
      ) : (
        <ul className="attn">
          {items.map((item) => (
            <AttentionItem key={item.key} item={item} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function AttentionItem({ item }: { readonly item: Attention }) {
  return (
    <li className={`s-${item.state}`}>
      <StateIcon state={item.state} />
      <div className="min-w-0">
        <h3>
          <b>{item.subject}</b> {item.words}
        </h3>
        <p className="wrap-anywhere">{item.why}</p>
      </div>
      <Link className="do" href={item.href}>
        {item.step}
        <span className="vh"> of {item.subject}</span>
        <ArrowRight className="ic" aria-hidden />
      </Link>
    </li>
  );
}
