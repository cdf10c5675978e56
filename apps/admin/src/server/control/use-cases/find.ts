import type { Outcome } from "@llmgw/api/server";
import { done, refused } from "@llmgw/api/server";
import type { Gpu, Model, Node } from "@llmgw/domain";
import type { ViewContext } from "../views/context.ts";
import { unknown } from "./dependencies.ts";

/** A node by its id or name. */
export function findNode(context: ViewContext, wanted: string): Outcome<Node> {
  const { nodes } = context.world.snapshot;
  const node = nodes.find((one) => one.id === wanted) ?? nodes.find((one) => one.name === wanted);
  const names = nodes.map((one) => one.name);
  return node === undefined ? unknown("node", wanted, names) : done(node);
}

/** A model that is not deleted, by its id or an alias. */
export function findModel(context: ViewContext, wanted: string): Outcome<Model> {
  const models = context.world.snapshot.models.filter((one) => one.deletedAtMs === null);
  const model = models.find((one) => one.id === wanted) ?? models.find((one) => one.spec.aliases.includes(wanted));
  const ids = models.map((one) => one.id);
  return model === undefined ? unknown("model", wanted, ids) : done(model);
}

/** A GPU of a node by its UUID or index. */
export function findGpu(node: Node, wanted: string): Outcome<Gpu> {
  const gpu = node.gpus.find((one) => one.uuid === wanted) ?? node.gpus.find((one) => String(one.index) === wanted);
  if (gpu !== undefined) return done(gpu);
  const known = node.gpus.map((one) => `${one.index} (${one.uuid})`).join(", ");
  return refused({
    kind: "not_found",
    message: `${node.name} has no GPU "${wanted}".${known === "" ? " It reports none." : ` It has ${known}.`}`,
  });
}
