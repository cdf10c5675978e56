import type { DrainView, ModelView, NodeView, ReplicaView } from "@llmgw/api";
import { matches } from "../find/find.ts";
import { paths } from "../parts/page.tsx";
import { pageGroups } from "../shell/pages.ts";

/** What choosing an entry does: go somewhere, or ask in the same dialog as the pages do. */
export type Command =
  | { readonly kind: "go"; readonly href: string }
  | { readonly kind: "cordon" | "uncordon" | "drain"; readonly node: string }
  | { readonly kind: "scale"; readonly model: ModelView };

export interface Entry {
  readonly id: string;
  readonly group: "Pages" | "Nodes" | "Models" | "Replicas" | "Drains" | "Actions";
  readonly label: string;
  /** Beside the label, and found by too. */
  readonly note: string;
  readonly command: Command;
}

export interface Cluster {
  readonly nodes: readonly NodeView[];
  readonly models: readonly ModelView[];
  readonly replicas: readonly ReplicaView[];
  readonly drains: readonly DrainView[];
  readonly mayChangeNodes: boolean;
  readonly mayScale: boolean;
}

/** Everything that the palette can go to or do just now, for this person. */
export function entriesOf({ nodes, models, replicas, drains, mayChangeNodes, mayScale }: Cluster): readonly Entry[] {
  const go = (group: Entry["group"], href: string, [label, note]: readonly [string, string]): Entry => ({
    ...{ id: `${group} ${href}`, group, label, note },
    command: { kind: "go", href },
  });
  const here = models.filter((model) => model.deletedAt === null);
  return [
    ...pageGroups.flat().map((page) => go("Pages", page.href, [page.name, ""])),
    ...nodes.map((node) => go("Nodes", paths.node(node.name), [node.name, node.availability])),
    ...here.map((model) =>
      go("Models", paths.model(model.id), [model.id, `${model.serving} of ${model.desired} serve`]),
    ),
    ...replicas.map((replica) => go("Replicas", paths.replica(replica.id), [replica.id, replica.modelId])),
    ...drains.map((drain) =>
      go("Drains", paths.drain(drain.id), [`Drain of ${drain.nodeName}`, drain.startedAt.slice(0, 16)]),
    ),
    ...(mayChangeNodes ? nodes.flatMap(nodeActions) : []),
    ...(mayScale
      ? here.map(
          (model): Entry => ({
            ...{ id: `scale ${model.id}`, group: "Actions", label: `Scale… ${model.id}`, note: "" },
            command: { kind: "scale", model },
          }),
        )
      : []),
  ];
}

function nodeActions(node: NodeView): readonly Entry[] {
  const { name, availability } = node;
  const action = (kind: "cordon" | "uncordon" | "drain", verb: string): Entry => ({
    ...{ id: `${kind} ${name}`, group: "Actions", label: `${verb} ${name}`, note: "" },
    command: { kind, node: name },
  });
  return [
    ...(availability === "active" ? [action("cordon", "Cordon…")] : []),
    ...(availability === "cordoned" || availability === "drained" ? [action("uncordon", "Uncordon")] : []),
    ...(node.openDrainId === null && availability !== "drained" ? [action("drain", "Drain…")] : []),
  ];
}

const mostPerGroup = 6;

/**
 * The entries for what was typed, in their groups: names that begin with it first, then those that have it. Nothing
 * typed shows the pages.
 */
export function chosenEntries(entries: readonly Entry[], typed: string): readonly Entry[] {
  const text = typed.trim().toLowerCase();
  if (text === "") return entries.filter((entry) => entry.group === "Pages");
  const counts = new Map<string, number>();
  const rank = (entry: Entry) => (entry.label.toLowerCase().startsWith(text) ? 0 : 1);
  const found = entries.filter((entry) => matches(text, [entry.label, entry.note]));
  const best = [...found].sort((a, b) => rank(a) - rank(b));
  const few = best.filter((entry) => {
    const count = (counts.get(entry.group) ?? 0) + 1;
    counts.set(entry.group, count);
    return count <= mostPerGroup;
  });
  const groups = [...new Set(few.map((entry) => entry.group))];
  return groups.flatMap((group) => few.filter((entry) => entry.group === group));
}
