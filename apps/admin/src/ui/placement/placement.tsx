"use client";

import type { PlacementRecord } from "@llmgw/domain";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { parseAsArrayOf, parseAsString, useQueryStates } from "nuqs";
import { useId } from "react";
import { usePolling } from "../data/live.tsx";
import { useTRPC } from "../data/trpc.ts";
import { Command, CopyButton } from "../parts/copy.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PageHeader, paths, TextLink } from "../parts/page.tsx";
import { RecordView } from "./record-view.tsx";

const question = {
  model: parseAsString.withDefault(""),
  replica: parseAsString.withDefault(""),
  exclude: parseAsArrayOf(parseAsString).withDefault([]),
};

function CopyRecord({ record }: { readonly record: PlacementRecord | null | undefined }) {
  if (record === null || record === undefined) return null;
  return <CopyButton text={JSON.stringify(record, null, 2)} label="Copy JSON" name="Copy JSON" />;
}

/** The decision that put a replica where it is, as it was kept. */
function PastDecision({ replica }: { readonly replica: string }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.replicas.get.queryOptions({ replica }), ...usePolling(5000) });
  const model = query.data?.replica.modelId;
  return (
    <>
      <PageHeader
        title={`Why ${replica} is where it is`}
        text={
          <>
            The decision as it was made.{" "}
            {model !== undefined && <TextLink href={paths.explain(model)}>Ask again with the cluster of now</TextLink>}
          </>
        }
        actions={<CopyRecord record={query.data?.record} />}
      />
      <Loaded query={query} what="the decision" rows={8}>
        {({ record }) =>
          record === null ? (
            <Empty title="No decision is kept for this replica">It was never placed, or its record is gone.</Empty>
          ) : (
            <RecordView record={record} isPast />
          )
        }
      </Loaded>
    </>
  );
}

/** Where a replica of a model would go now, and why not elsewhere. Asking changes nothing. */
function Question() {
  const trpc = useTRPC();
  const polling = usePolling();
  const id = useId();
  const [{ model, exclude }, setQuestion] = useQueryStates(question, { history: "push" });
  const models = useQuery({ ...trpc.models.list.queryOptions(), ...polling });
  const nodes = useQuery({ ...trpc.nodes.list.queryOptions(), ...polling });
  const query = useQuery({
    ...trpc.placement.explain.queryOptions({ model, exclude }, { trpc: { context: { slow: true } } }),
    ...usePolling(3000),
    placeholderData: keepPreviousData,
    enabled: model !== "",
  });
  const names = (models.data ?? []).filter((each) => each.deletedAt === null).map((each) => each.id);
  const command = ["npx llmgw ctl explain-placement", model, ...exclude.map((node) => `--exclude ${node}`)].join(" ");
  return (
    <>
      <PageHeader
        title="Placement"
        text="Where one more replica of a model would go now, and why not elsewhere. Asking changes nothing."
        actions={model === "" ? undefined : <CopyRecord record={query.data} />}
      />
      <section className="panel" aria-label="Question">
        <div className="panel-h">
          <label className="sm med" htmlFor={id}>
            Model
          </label>
          <select
            id={id}
            className="field min-w-[220px]"
            value={model}
            onChange={(event) => void setQuestion({ model: event.target.value === "" ? null : event.target.value })}
          >
            <option value="">Choose a model</option>
            {[...new Set(model === "" ? names : [...names, model])].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          <fieldset className="chips" aria-label="Pretend without these nodes">
            {(nodes.data ?? []).length > 0 && <span className="sm muted">Pretend without</span>}
            {(nodes.data ?? []).map((node) => (
              <button
                key={node.id}
                type="button"
                className="chip"
                aria-pressed={exclude.includes(node.name)}
                onClick={() =>
                  void setQuestion({
                    exclude: exclude.includes(node.name)
                      ? exclude.filter((each) => each !== node.name)
                      : [...exclude, node.name],
                  })
                }
              >
                {node.name}
              </button>
            ))}
          </fieldset>
          <span className="grow" />
          {model !== "" && <Command>{command}</Command>}
        </div>
        {model === "" && (
          <Empty title="Choose a model" command="npx llmgw ctl explain-placement MODEL">
            {names.length === 0 && models.data !== undefined
              ? "No model is deployed yet: apply one, then ask here why it goes where it goes."
              : "Every node and every GPU is then checked against what the model needs."}
          </Empty>
        )}
      </section>
      {model !== "" && (
        <Loaded query={query} what="the explanation" rows={8}>
          {(record) => <RecordView record={record} isPast={false} />}
        </Loaded>
      )}
    </>
  );
}

/** Explain placement: a question of now, or the decision that was kept for a replica. The URL is the question. */
export function Placement() {
  const [{ replica }] = useQueryStates(question);
  return replica === "" ? <Question /> : <PastDecision replica={replica} />;
}
