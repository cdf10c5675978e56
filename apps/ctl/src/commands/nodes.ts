import type { NodeView } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";
import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { age, gib, printOne, state, tableWidth } from "../ctl/output.ts";
import { printList, watchOption } from "../ctl/print-list.ts";
import { programName } from "../ctl/program-name.ts";
import type { Registrar } from "../ctl/registrar.ts";
import { type Column, table } from "../ctl/table.ts";
import { registerNodeChanges } from "./node-changes.ts";

/** `ctl nodes`, `ctl nodes NODE`. */
async function nodes(
  context: CommandContext,
  name: string | undefined,
  options: { readonly watch?: boolean },
): Promise<number> {
  const { client } = await context.connection();
  if (name !== undefined) {
    const node = await client.nodes.get.query({ node: name });
    printOne(node, context.format, {
      text: () => describeNode(node, tableWidth(context.format)),
      name: () => node.name,
    });
    return exit.ok;
  }
  return printList(context, {
    fetch: () => client.nodes.list.query(),
    watch: options.watch,
    name: (node) => node.name,
    empty: `No node has joined. Start one with \`${programName()} agent\` (see \`${programName()} agent --help\`).`,
    columns: [
      { head: "NAME", cell: (node) => node.name },
      { head: "STATE", cell: (node) => state(stateOf(node)) },
      { head: "GPUS", cell: (node) => `${node.gpus.filter((gpu) => gpu.schedulable).length}/${node.gpus.length}` },
      { head: "REPLICAS", cell: (node) => String(new Set(node.shards.map((shard) => shard.replicaId)).size) },
      { head: "SEEN", cell: (node) => age(node.lastSeenAt, Date.now()), passing: true },
      { head: "ADDRESS", cell: (node) => node.address },
      { head: "NOTES", cell: notes, narrow: "wrap" },
    ],
  });
}

function stateOf(node: NodeView): string {
  return node.liveness === "live" ? node.availability : `${node.availability},${node.liveness}`;
}

function notes(node: NodeView): string {
  const excluded = node.gpus.flatMap((gpu) => (gpu.excludedBy === null ? [] : [describeReason(gpu.excludedBy)]));
  const cordons = node.cordons.map((cordon) => `${cordon.owner} (${cordon.by}): ${cordon.reason}`);
  return [...(node.simulated ? ["simulated"] : []), ...cordons, ...excluded].join("; ");
}

function describeNode(node: NodeView, width: number | null): string {
  const columns: Column<NodeView["gpus"][number]>[] = [
    {
      head: "GPU",
      cell: (gpu) => (gpu.previousIndex === null ? `#${gpu.index}` : `#${gpu.index} (was #${gpu.previousIndex})`),
    },
    { head: "NAME", cell: (gpu) => gpu.name },
    { head: "USED", cell: (gpu) => gib(gpu.usedMib) },
    { head: "TOTAL", cell: (gpu) => gib(gpu.totalMib) },
    { head: "HEALTH", cell: (gpu) => state(gpu.health.status) },
    { head: "HOLDS", cell: (gpu) => gpu.holders.map((holder) => holder.replicaId).join(", ") },
    {
      head: "EXCLUDED BECAUSE",
      cell: (gpu) => (gpu.excludedBy === null ? "" : describeReason(gpu.excludedBy)),
      narrow: "wrap",
    },
    { head: "UUID", cell: (gpu) => gpu.uuid },
  ];
  const gpus = table(node.gpus, columns, width);
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
  const command = registrar
    .verb({
      usage: "nodes [node]",
      description: "nodes, or one with its GPUs",
      examples: ["nodes", "nodes sim-1", "nodes -w"],
    })
    .option(...watchOption);
  registrar.on<{ watch?: boolean }>(command, (context, [node], options) => nodes(context, node, options));
  registerNodeChanges(registrar, command);
}
