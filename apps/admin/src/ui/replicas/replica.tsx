"use client";

import type { ReplicaView } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import { ScanSearch } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { usePolling } from "../data/live.tsx";
import { Time } from "../data/time.tsx";
import { useTRPC } from "../data/trpc.ts";
import { useSimulatedModels } from "../models/use-simulated.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Facts, PageHeader, Panel, paths, TextLink } from "../parts/page.tsx";
import { SimulatedMark } from "../parts/simulated.tsx";
import { sentence } from "../state/gpu-state.ts";
import { replicaStateOf } from "../state/replica-state.ts";
import { StatusBadge } from "../state/states.tsx";
import { Failures } from "./failures.tsx";
import { LogViewer } from "./log-viewer.tsx";
import { RoutingTable } from "./routing-table.tsx";
import { ShardsTable } from "./shards-table.tsx";

function factsOf(replica: ReplicaView): (readonly [string, ReactNode])[] {
  const { replaces, replacedBy, drainId, notBefore } = replica;
  return [
    [
      "Model",
      <TextLink
        key="model"
        href={paths.model(replica.modelId)}
      >{`${replica.modelId}, revision ${replica.modelRevision}`}</TextLink>,
    ],
    ["Start", replica.generation === 0 ? "never placed" : `number ${replica.generation}`],
    ["Since", <Time key="since" at={replica.phaseSince} />],
    ["Created", <Time key="created" at={replica.createdAt} />],
    ...(replaces === null
      ? []
      : [
          [
            "Replaces",
            <TextLink key="of" href={paths.replica(replaces)}>
              {replaces}
            </TextLink>,
          ] as const,
        ]),
    ...(replacedBy === null
      ? []
      : [
          [
            "Replaced by",
            <TextLink key="by" href={paths.replica(replacedBy)}>
              {replacedBy}
            </TextLink>,
          ] as const,
        ]),
    ...(drainId === null
      ? []
      : [
          [
            "Moved by",
            <TextLink key="drain" href={paths.drain(drainId)}>
              its drain
            </TextLink>,
          ] as const,
        ]),
    ...(notBefore === null ? [] : [["Starts again", <Time key="again" at={notBefore} />] as const]),
  ];
}

/** One replica: its phase and why, its shards, how earlier starts ended, what the routers say, and its log. */
export function Replica({ id }: { readonly id: string }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.replicas.get.queryOptions({ replica: id }), ...usePolling() });
  const simulated = useSimulatedModels();
  return (
    <>
      {query.data === undefined && <PageHeader title={id} />}
      <Loaded query={query} what={`replica ${id}`} rows={8}>
        {({ replica, record }) => (
          <>
            <PageHeader
              title={replica.id}
              marks={
                <>
                  <StatusBadge {...replicaStateOf(replica)} chip />
                  {simulated.has(replica.modelId) && <SimulatedMark />}
                </>
              }
              text={replica.reason === null ? undefined : `${sentence(replica.reason)}.`}
              actions={
                <Link
                  className="btn"
                  href={record === null ? paths.explain(replica.modelId) : paths.decision(replica.id)}
                >
                  <ScanSearch className="ic" aria-hidden />
                  {record === null
                    ? "Explain placement"
                    : replica.phase === "stopped"
                      ? "Why it was there"
                      : "Why it is there"}
                </Link>
              }
            />
            <Facts facts={factsOf(replica)} />
            <Failures failures={replica.failures} />
            <Panel title="Shards" text="All serve, or none. Shard 0 is the head and owns the HTTP endpoint.">
              <ShardsTable replica={replica} />
            </Panel>
            <Panel
              title="Routing"
              text={
                replica.routing.state === null
                  ? undefined
                  : `Offered as ${replica.routing.state}, ${replica.routing.inflight} in flight.`
              }
            >
              <RoutingTable replica={replica} />
            </Panel>
            {replica.generation > 0 && <LogViewer replica={replica} />}
          </>
        )}
      </Loaded>
    </>
  );
}
