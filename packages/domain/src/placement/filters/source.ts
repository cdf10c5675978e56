import type { ModelSource } from "../../cluster/model.ts";
import { reason } from "../../reasons/reason.ts";
import type { NodeRule } from "./rule.ts";

/** A local path that the node says it does not have. Hub sources are downloaded; a simulated engine reads no weights. */
export const source: NodeRule = (node, { model }) => {
  const wanted = model.spec.source;
  if (wanted.kind !== "path" || node.simulated || node.sources[wanted.path] !== "absent") return null;
  return reason("source_absent", { node: node.name, source: wanted.path });
};

/** What a node lists in `sources`; null for models that run elsewhere. */
export function sourceKey(wanted: ModelSource): string | null {
  switch (wanted.kind) {
    case "hub":
      return wanted.repo;
    case "path":
      return wanted.path;
    case "external":
      return null;
  }
}
