"use client";

import { useQuery } from "@tanstack/react-query";
import { counted } from "../data/format.ts";
import { usePolling } from "../data/live.tsx";
import { useTRPC } from "../data/trpc.ts";
import { Loaded } from "../parts/loaded.tsx";
import { PageHeader } from "../parts/page.tsx";
import { ModelsTable } from "./models-table.tsx";

/** Every model: how many replicas were asked for, have a place, and answer. */
export function Models() {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.models.list.queryOptions(), ...usePolling() });
  const wanted = query.data?.filter((model) => model.deletedAt === null) ?? [];
  const short = wanted.filter((model) => model.serving < model.desired).length;
  return (
    <>
      <PageHeader
        title="Models"
        text={
          wanted.length === 0
            ? undefined
            : short === 0
              ? `All of ${counted(wanted.length, "model")} serve as asked for.`
              : `${short} of ${counted(wanted.length, "model")} ${short === 1 ? "serves" : "serve"} with less than was asked for.`
        }
      />
      <section className="panel" aria-label="Models">
        <Loaded query={query} what="the models">
          {(models) => <ModelsTable models={models} />}
        </Loaded>
      </section>
    </>
  );
}
