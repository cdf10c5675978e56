import type { RunnableEngine } from "../../cluster/node.ts";
import { reason } from "../../reasons/reason.ts";
import type { NodeRule } from "./rule.ts";

/**
 * The node has the model's engine, in the version asked for if one is. A simulated node runs every engine as `sim`; a
 * real one never runs `sim`. `external` models run on no node.
 */
export const engine: NodeRule = (node, { model }) => {
  const { name, version } = model.spec.engine;
  const runs = node.simulated
    ? name !== "external" && node.engines.some((found) => found.name === "sim")
    : name !== "sim" &&
      name !== "external" &&
      node.engines.some((found) => found.name === name && (version === null || found.version === version));
  if (runs) return null;
  return reason("engine_not_runnable", {
    node: node.name,
    engine: words({ name, version }),
    found: node.engines.map(words).join(", "),
  });
};

const words = (found: RunnableEngine): string =>
  found.version === null ? found.name : `${found.name} ${found.version}`;
