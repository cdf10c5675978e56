import type { ModelView } from "@llmgw/api";
import type { ReactNode } from "react";
import { duration, gib } from "../data/format.ts";
import { Facts } from "../parts/page.tsx";

type Spec = ModelView["spec"];

function sourceOf(source: Spec["source"]): string {
  switch (source.kind) {
    case "hub":
      return source.repo;
    case "path":
      return source.path;
    case "external":
      return source.urls.join(", ");
  }
}

function listed(values: readonly string[]): string {
  return values.length === 0 ? "any" : values.join(", ");
}

function limit(ms: number | null): string {
  return ms === null ? "the default" : duration(ms);
}

/** A model's spec with every default filled in, in the order of `model.yaml`. */
export function SpecFacts({ spec }: { readonly spec: Spec }) {
  const { engine, resources, place, routing } = spec;
  const facts: (readonly [string, ReactNode])[] = [
    ["Source", <code key="source">{sourceOf(spec.source)}</code>],
    ["Engine", `${engine.name} ${engine.version ?? "(any version)"}`],
    ["Arguments", engine.args.length === 0 ? "none" : <code key="args">{engine.args.join(" ")}</code>],
    ["Also answers to", spec.aliases.length === 0 ? "no other name" : spec.aliases.join(", ")],
    [
      "Each replica takes",
      `${resources.tp} × ${gib(resources.memoryPerGpuMib)}${resources.shareGpu ? ", shared GPUs" : ""}`,
    ],
    ["Context", resources.contextTokens === null ? "as the engine says" : `${resources.contextTokens} tokens`],
    ["Pool", spec.pool ?? "none"],
    ["Nodes", listed(place.nodes)],
    ["GPUs", listed(place.gpus)],
    ["Labels", listed(Object.entries(place.labels).map(([name, value]) => `${name}=${value}`))],
    ["Routing", routing.policy],
    ["At most in flight", routing.maxInflight ?? "the default"],
    ["First byte within", limit(routing.timeouts.firstByteMs)],
    ["Load within", `${duration(spec.load.maxMs)}, progress every ${duration(spec.load.stallMs)}`],
    ["Moves at a time", spec.update.maxSurge],
    ["Drain grace", limit(spec.drain.graceMs)],
  ];
  return <Facts facts={facts} grid />;
}
