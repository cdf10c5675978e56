import type { ModelView } from "@llmgw/api";
import Link from "next/link";
import { gib } from "../data/format.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { paths } from "../parts/page.tsx";
import { ReplicaCount } from "../parts/replica-count.tsx";
import { SimulatedMark } from "../parts/simulated.tsx";
import { sentence } from "../state/gpu-state.ts";
import { modelStateOf } from "../state/model-state.ts";
import { StatusBadge } from "../state/states.tsx";

/** `vllm · 2 × 71.7 GiB`: the engine and what one replica takes. */
function sizeOf(model: ModelView): string {
  const { engine, resources } = model.spec;
  return `${engine.name} · ${resources.tp} × ${gib(resources.memoryPerGpuMib)}`;
}

const columns: readonly Column<ModelView>[] = [
  {
    id: "model",
    head: "Model",
    rowHeader: true,
    className: "head is-long",
    cell: (model) => (
      <>
        <Link className="cell" href={paths.model(model.id)}>
          {model.id}
        </Link>{" "}
        {model.simulated && <SimulatedMark />}
      </>
    ),
  },
  { id: "state", head: "State", className: "nw top", cell: (model) => <StatusBadge {...modelStateOf(model)} /> },
  {
    id: "count",
    head: "Desired / placed / serving",
    className: "nw",
    card: "Desired / placed / serving",
    cell: (model) => <ReplicaCount model={model} />,
  },
  {
    id: "reason",
    head: "Why",
    className: "full",
    cell: (model) =>
      model.reason === null ? (
        <span className="faint off">–</span>
      ) : (
        <span className="wrap-anywhere">{sentence(model.reason)}</span>
      ),
  },
  { id: "engine", head: "Engine, size", className: "nw muted lo", card: "Engine, size", cell: sizeOf },
];

export function ModelsTable({ models }: { readonly models: readonly ModelView[] }) {
  const shown = models.filter((model) => model.deletedAt === null || model.placed > 0);
  if (shown.length === 0) {
    return (
      <Empty title="No model is deployed yet" command="npx llmgw ctl apply -f model.yaml">
        Describe a model in a file and apply it; its replicas appear here while they are placed and loaded.
      </Empty>
    );
  }
  return (
    <DataTable
      label="Models"
      columns={columns}
      rows={shown}
      rowKey={(model) => model.id}
      alert={(model) => {
        const { state } = modelStateOf(model);
        return state === "failed" || state === "degraded" ? state : null;
      }}
    />
  );
}
