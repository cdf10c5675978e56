"use client";

import type { ModelView } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import { Scaling, ScanSearch } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { usePolling } from "../data/live.tsx";
import { Time } from "../data/time.tsx";
import { useTRPC } from "../data/trpc.ts";
import { useDenied } from "../data/whoami.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Facts, PageHeader, Panel, paths } from "../parts/page.tsx";
import { ReplicaCount } from "../parts/replica-count.tsx";
import { SimulatedMark } from "../parts/simulated.tsx";
import { ReplicasTable } from "../replicas/replicas-table.tsx";
import { sentence } from "../state/gpu-state.ts";
import { modelStateOf } from "../state/model-state.ts";
import { StateIcon, StatusBadge } from "../state/states.tsx";
import { ScaleDialog } from "./scale-dialog.tsx";
import { SpecFacts } from "./spec-facts.tsx";

function ModelBody({ model }: { readonly model: ModelView }) {
  const trpc = useTRPC();
  const replicas = useQuery({ ...trpc.replicas.list.queryOptions({ model: model.id }), ...usePolling() });
  const [isScaling, setScaling] = useState(false);
  const denied = useDenied("models.scale");
  const state = modelStateOf(model);
  const { deletedAt } = model;
  return (
    <>
      <PageHeader
        title={model.id}
        marks={
          <>
            <StatusBadge {...state} chip />
            {model.simulated && <SimulatedMark />}
          </>
        }
        actions={
          <>
            <Link className="btn" href={paths.explain(model.id)}>
              <ScanSearch className="ic" aria-hidden />
              Explain placement
            </Link>
            {deletedAt === null && (
              <ActionButton className="btn is-primary" denied={denied} onClick={() => setScaling(true)}>
                <Scaling className="ic" aria-hidden />
                Scale…
              </ActionButton>
            )}
          </>
        }
      />
      <Facts
        facts={[
          ["Desired / placed / serving", <ReplicaCount key="count" model={model} />],
          ["Revision", model.revision],
          ["Created", <Time key="created" at={model.createdAt} />],
          ...(deletedAt === null ? [] : [["Deleted", <Time key="deleted" at={deletedAt} />] as const]),
        ]}
      />
      {model.reason !== null && (
        <div className={`notice s-${state.state}`} role="note">
          <StateIcon state={state.state} size="ic-l" />
          <div>
            <p>{sentence(model.reason)}.</p>
          </div>
          <Link className="btn is-s" href={paths.explain(model.id)}>
            Every candidate, every check
          </Link>
        </div>
      )}
      <Panel title="Replicas">
        <Loaded query={replicas} what="its replicas">
          {(view) => <ReplicasTable replicas={view} />}
        </Loaded>
      </Panel>
      <Panel
        title="Spec"
        text="with every default filled in"
        side={<CopyButton text={JSON.stringify(model.spec, null, 2)} name="Copy the spec as JSON" />}
      >
        <div className="panel-b">
          <SpecFacts spec={model.spec} />
        </div>
      </Panel>
      {isScaling && <ScaleDialog model={model} onClose={() => setScaling(false)} />}
    </>
  );
}

/** One model: what was asked for, what answers, why they differ, and its replicas. */
export function Model({ id }: { readonly id: string }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.models.get.queryOptions({ model: id }), ...usePolling() });
  return (
    <>
      {query.data === undefined && <PageHeader title={id} />}
      <Loaded query={query} what={`model ${id}`} rows={8}>
        {(model) => <ModelBody model={model} />}
      </Loaded>
    </>
  );
}
