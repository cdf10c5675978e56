"use client";

import type { ModelView } from "@llmgw/api";
import Link from "next/link";
import { useMemo } from "react";
import { gib } from "../data/format.ts";
import type { Searchable } from "../find/find.ts";
import { FindBar, NothingFound } from "../find/find-bar.tsx";
import { useFind } from "../find/use-find.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { paths } from "../parts/page.tsx";
import { ReplicaCount } from "../parts/replica-count.tsx";
import { SimulatedMark } from "../parts/simulated.tsx";
import { sentence } from "../state/gpu-state.ts";
import { modelStateOf } from "../state/model-state.ts";
import { type StateName, StatusBadge } from "../state/states.tsx";

/** `vllm · 2 × 71.7 GiB`: the engine and what one replica takes. */
function sizeOf(model: ModelView): string {
  const { engine, resources } = model.spec;
  return `${engine.name} · ${resources.tp} × ${gib(resources.memoryPerGpuMib)}`;
}

/** The words to filter by: without the numbers that `modelStateOf` puts into its own. */
const stateWords: Readonly<Partial<Record<StateName, string>>> = {
  failed: "Down",
  degraded: "Below desired",
  moving: "Moving",
};

const search: Searchable<ModelView> = {
  texts: (model) => [model.id, sizeOf(model), model.reason === null ? "" : sentence(model.reason)],
  states: (model) => {
    const { state, word } = modelStateOf(model);
    return [stateWords[state] ?? word];
  },
};

const columns: readonly Column<ModelView>[] = [
  {
    id: "model",
    head: "Model",
    rowHeader: true,
    className: "head is-long",
    sort: (model) => model.id,
    cell: (model) => (
      <>
        <Link className="cell" href={paths.model(model.id)}>
          {model.id}
        </Link>{" "}
        {model.simulated && <SimulatedMark />}
      </>
    ),
  },
  {
    id: "state",
    head: "State",
    className: "nw top",
    sort: (model) => modelStateOf(model).word,
    cell: (model) => <StatusBadge {...modelStateOf(model)} />,
  },
  {
    id: "count",
    head: "Desired / placed / serving",
    className: "nw",
    card: "Desired / placed / serving",
    sort: (model) => model.serving - model.desired,
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
  { id: "engine", head: "Engine, size", className: "nw muted lo", card: "Engine, size", sort: sizeOf, cell: sizeOf },
];

export function ModelsTable({ models }: { readonly models: readonly ModelView[] }) {
  const shown = useMemo(() => models.filter((model) => model.deletedAt === null || model.placed > 0), [models]);
  const found = useFind(shown, columns, search);
  if (shown.length === 0) {
    return (
      <Empty title="No model is deployed yet" command="npx llmgw ctl apply -f model.yaml">
        Describe a model in a file and apply it; its replicas appear here while they are placed and loaded.
      </Empty>
    );
  }
  return (
    <>
      <FindBar found={found} what="models" />
      {found.rows.length === 0 ? (
        <NothingFound what="models" onClear={found.clear} />
      ) : (
        <DataTable
          label="Models"
          columns={columns}
          rows={found.rows}
          rowKey={(model) => model.id}
          sort={found}
          alert={(model) => {
            const { state } = modelStateOf(model);
            return state === "failed" || state === "degraded" ? state : null;
          }}
        />
      )}
    </>
  );
}
