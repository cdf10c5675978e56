"use client";

import type { GpuView, NodeView } from "@llmgw/api";
import { Ban } from "lucide-react";
import { useState } from "react";
import { gib } from "../data/format.ts";
import { Time } from "../data/time.tsx";
import { useDenied } from "../data/whoami.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { MemoryBar } from "../parts/memory-bar.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { exclusionOf, gpuCordonOf, gpuName, healthOf, sentence } from "../state/gpu-state.ts";
import { StatusBadge } from "../state/states.tsx";
import { CordonDialog } from "./cordon-dialog.tsx";
import { CordonWords } from "./cordon-words.tsx";
import { Uncordon } from "./node-actions.tsx";

/** A reading, or the word for why there is none. An unknown is never shown as 0. */
function Reading({
  value,
  unit,
}: {
  readonly value: GpuView["temperatureC"];
  readonly unit: (value: number) => string;
}) {
  if (typeof value === "number") return <>{unit(value)}</>;
  return <span className="faint">{value === "unsupported" ? "–" : "unreadable"}</span>;
}

function Users({ gpu }: { readonly gpu: GpuView }) {
  if (gpu.holders.length + gpu.foreign.length === 0) return <span className="faint">nothing</span>;
  return (
    <>
      {gpu.holders.map((holder) => (
        <span key={`${holder.replicaId}/${holder.rank}`} className="block">
          <TextLink href={paths.replica(holder.replicaId)}>
            {holder.replicaId}/{holder.rank}
          </TextLink>{" "}
          <span className="faint">{gib(holder.mib)}</span>
        </span>
      ))}
      {gpu.foreign.map((process) => (
        <span key={process.pid} className="block s-degraded fg">
          pid {process.pid}, not ours{" "}
          {typeof process.usedMib === "number" ? gib(process.usedMib) : `(memory ${process.usedMib})`}
        </span>
      ))}
    </>
  );
}

function GpuAction({ node, gpu }: { readonly node: NodeView; readonly gpu: GpuView }) {
  const [asking, setAsking] = useState(false);
  const denied = useDenied("nodes.setAvailability");
  const target = { uuid: gpu.uuid, name: `GPU ${gpu.index}` };
  const cordon = gpuCordonOf(node, gpu);
  if (cordon?.owner === "operator") {
    return <Uncordon node={node.name} gpu={target} className="btn is-s is-quiet" denied={denied} />;
  }
  return (
    <>
      <ActionButton className="btn is-s is-quiet" denied={denied} onClick={() => setAsking(true)}>
        <Ban className="ic" aria-hidden />
        <span>
          Cordon…<span className="vh"> {target.name}</span>
        </span>
      </ActionButton>
      {asking && <CordonDialog target={{ node: node.name, gpu: target }} onClose={() => setAsking(false)} />}
    </>
  );
}

function columnsOf(node: NodeView): readonly Column<GpuView>[] {
  return [
    {
      id: "gpu",
      head: "GPU",
      rowHeader: true,
      className: "head is-long",
      cell: (gpu) => (
        <>
          {gpuName(gpu)}
          <code className="sub" title={gpu.uuid}>
            {gpu.uuid.length > 16 ? `${gpu.uuid.slice(0, 16)}…` : gpu.uuid}
            {gpu.pciBusId !== null && <span className="off-phone"> · {gpu.pciBusId}</span>}
          </code>
        </>
      ),
    },
    {
      id: "health",
      head: "Health",
      className: "top",
      cell: (gpu) => {
        const cordon = gpuCordonOf(node, gpu);
        return (
          <>
            <StatusBadge {...healthOf(gpu)} />
            {cordon !== null && (
              <>
                <span className="block">
                  <StatusBadge state="cordoned" word="Cordoned" />
                </span>
                <CordonWords cordon={cordon} />
              </>
            )}
          </>
        );
      },
    },
    { id: "memory", head: "Memory claimed", className: "full", cell: (gpu) => <MemoryBar gpus={[gpu]} /> },
    {
      id: "busy",
      head: "Busy",
      className: "r nw t3 lo",
      card: "Busy",
      cell: (gpu) => <Reading value={gpu.utilizationRatio} unit={(ratio) => `${Math.round(ratio * 100)} %`} />,
    },
    {
      id: "temperature",
      head: "Temp.",
      className: "r nw t3 lo",
      card: "Temp.",
      cell: (gpu) => <Reading value={gpu.temperatureC} unit={(degrees) => `${Math.round(degrees)} °C`} />,
    },
    { id: "users", head: "Used by", card: "Used by", cell: (gpu) => <Users gpu={gpu} /> },
    {
      id: "placement",
      head: "New work",
      card: "New work",
      cell: (gpu) =>
        gpu.schedulable ? (
          <span className="muted">{gpu.health.status === "degraded" ? "Last choice" : "Schedulable"}</span>
        ) : (
          <span className="s-unhealthy fg med">Excluded</span>
        ),
    },
    {
      id: "action",
      head: "Actions",
      silent: true,
      className: "r act",
      cell: (gpu) => <GpuAction node={node} gpu={gpu} />,
    },
  ];
}

/** What was seen, since when, and what clears it; only for a GPU that is not simply healthy. */
function Evidence({ gpu }: { readonly gpu: GpuView }) {
  const { health } = gpu;
  const why = health.reason === null ? exclusionOf(gpu) : sentence(health.reason);
  return (
    <dl className="facts is-evidence">
      <div>
        <dt>Why, and the evidence</dt>
        <dd>
          {why}
          {health.evidence !== null && (
            <>
              <br />
              <code>{health.evidence}</code>
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Since</dt>
        <dd>
          <Time at={gpu.missingSince ?? health.since} />
        </dd>
      </div>
      <div>
        <dt>What clears it</dt>
        <dd>{health.clears ?? (gpu.missingSince === null ? "Uncordon" : "The GPU is reported again")}</dd>
      </div>
    </dl>
  );
}

/** A node's GPUs: what each says of itself, what holds it, and why it does not take new work where it does not. */
export function GpusTable({ node }: { readonly node: NodeView }) {
  if (node.gpus.length === 0) {
    return (
      <Empty title="No GPU was reported">
        {node.gpuProbeError ?? "The agent found none on this machine; it can run engines that need none."}
      </Empty>
    );
  }
  const needsWords = (gpu: GpuView) => gpu.health.status !== "healthy" || (!gpu.schedulable && gpu.excludedBy !== null);
  return (
    <DataTable
      label={`GPUs of ${node.name}`}
      columns={columnsOf(node)}
      rows={[...node.gpus].sort((a, b) => a.index - b.index)}
      rowKey={(gpu) => gpu.uuid}
      alert={(gpu) => {
        const { state } = healthOf(gpu);
        if (state !== "healthy") return state;
        return gpuCordonOf(node, gpu) === null ? null : "cordoned";
      }}
      sub={(gpu) => (needsWords(gpu) ? <Evidence gpu={gpu} /> : null)}
    />
  );
}
