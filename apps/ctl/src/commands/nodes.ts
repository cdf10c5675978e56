import type { NodeView } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";
import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { age, gib, printOne, printRows, state, table } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl nodes`, `ctl nodes NODE`. */
async function nodes(context: CommandContext, name: string | undefined): Promise<number> {
  const { client } = await context.connection();
  if (name !== undefined) {
    const node = await client.nodes.get.query({ node: name });
    printOne(node, context.format, () => describeNode(node));
    return exit.ok;
  }
  const rows = await client.nodes.list.query();
  const nowMs = Date.now();
  printRows(rows, {
    format: context.format,
    name: (node) => node.name,
    empty: "No node has joined. Start one with `npx llmgw agent` (see `npx llmgw agent --help`).",
    columns: [
      { head: "NAME", cell: (node) => node.name },
      { head: "STATE", cell: (node) => state(stateOf(node)) },
      { head: "GPUS", cell: (node) => `${node.gpus.filter((gpu) => gpu.schedulable).length}/${node.gpus.length}` },
      { head: "REPLICAS", cell: (node) => String(new Set(node.shards.map((shard) => shard.replicaId)).size) },
      { head: "SEEN", cell: (node) => age(node.lastSeenAt, nowMs) },
      { head: "ADDRESS", cell: (node) => node.address },
      { head: "NOTES", cell: notes },
    ],
  });
  return exit.ok;
}

function stateOf(node: NodeView): string {
  return node.liveness === "live" ? node.availability : `${node.availability},${node.liveness}`;
}

function notes(node: NodeView): string {
  const excluded = node.gpus.flatMap((gpu) => (gpu.excludedBy === null ? [] : [describeReason(gpu.excludedBy)]));
  const cordons = node.cordons.map((cordon) => `${cordon.owner} (${cordon.by}): ${cordon.reason}`);
  return [...(node.simulated ? ["simulated"] : []), ...cordons, ...excluded].join("; ");
}

function describeNode(node: NodeView): string {
  const gpus = table(node.gpus, [
    {
      head: "GPU",
      cell: (gpu) => (gpu.previousIndex === null ? `#${gpu.index}` : `#${gpu.index} (was #${gpu.previousIndex})`),
    },
    { head: "NAME", cell: (gpu) => gpu.name },
    { head: "USED", cell: (gpu) => gib(gpu.usedMib) },
    { head: "TOTAL", cell: (gpu) => gib(gpu.totalMib) },
    { head: "HEALTH", cell: (gpu) => state(gpu.health.status) },
    { head: "HOLDS", cell: (gpu) => gpu.holders.map((holder) => holder.replicaId).join(", ") },
    { head: "EXCLUDED BECAUSE", cell: (gpu) => (gpu.excludedBy === null ? "" : describeReason(gpu.excludedBy)) },
    { head: "UUID", cell: (gpu) => gpu.uuid },
  ]);
  const facts = [
    `${node.name}${node.simulated ? " (simulated)" : ""}: ${stateOf(node)}`,
    `address ${node.address}, agent ${node.agentVersion}, engines ${node.engines.map(({ name }) => name).join(", ") || "none"}`,
    ...node.cordons.map((cordon) => `cordon by ${cordon.by} (${cordon.owner}) since ${cordon.since}: ${cordon.reason}`),
    ...(node.gpuProbeError === null ? [] : [`GPU probe: ${node.gpuProbeError}`]),
    ...node.orphans.map((orphan) => `orphan: ${orphan.replicaId}/${orphan.rank} runs here and is not in the database`),
  ];
  return [...facts, "", gpus].join("\n");
}

export function registerNodes(registrar: Registrar): void {
  const command = registrar.verb({
    usage: "nodes [node]",
    description: "nodes, or one with its GPUs",
    examples: ["nodes", "nodes sim-1"],
  });
  registrar.on(command, (context, [node]) => nodes(context, node));
}
