import type { Command } from "commander";
import { ask } from "../ctl/ask.ts";
import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { printOne } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

interface ChangeOptions {
  readonly reason?: string;
  readonly yes?: boolean;
}

/** `ctl nodes rm NODE`. */
async function remove(context: CommandContext, wanted: string, { reason, yes }: ChangeOptions): Promise<number> {
  const { client } = await context.connection();
  const { name: node } = await client.nodes.get.query({ node: wanted });
  if (yes !== true) {
    const question = `Remove ${node} from the cluster? If it returns, it stops everything it runs. Type ${node}: `;
    await ask({ question, typed: node, otherwise: `add --yes to remove ${node}` });
  }
  const removed = await client.nodes.remove.mutate({ node, reason });
  const left = removed.released.length === 0 ? "" : `; never confirmed gone: ${removed.released.join(", ")}`;
  printOne(removed, context.format, { text: () => `${removed.name} is removed${left}`, name: () => removed.name });
  return exit.ok;
}

/** `ctl nodes accept-inventory NODE`. */
async function acceptInventory(context: CommandContext, node: string, { reason }: ChangeOptions): Promise<number> {
  const { client } = await context.connection();
  const view = await client.nodes.acceptInventory.mutate({ node, reason });
  const text = () => `${view.name} has ${view.gpus.length} GPUs from now on`;
  printOne(view, context.format, { text, name: () => view.name });
  return exit.ok;
}

/** `ctl nodes confirm-lost NODE`. */
async function confirmLost(context: CommandContext, wanted: string, { reason, yes }: ChangeOptions): Promise<number> {
  const { client } = await context.connection();
  const { name: node } = await client.nodes.get.query({ node: wanted });
  if (yes !== true) {
    const question = `Is ${node} gone for good? What runs there is replaced at once. [y/N] `;
    await ask({ question, typed: null, otherwise: `add --yes to call ${node} lost` });
  }
  const view = await client.nodes.confirmLost.mutate({ node, reason });
  const text = () => `${view.name} counts as lost until it is heard again`;
  printOne(view, context.format, { text, name: () => view.name });
  return exit.ok;
}

/** What changes a node's place in the cluster, below `ctl nodes`. */
export function registerNodeChanges(registrar: Registrar, parent: Command): void {
  const changes = [
    {
      usage: "rm <node>",
      description: "remove a node that is drained or confirmed as lost",
      examples: ["nodes rm sim-1", "nodes rm sim-1 --yes"],
      asks: true,
      work: remove,
    },
    {
      usage: "accept-inventory <node>",
      description: "forget GPUs that the node does not report any more",
      examples: ["nodes accept-inventory sim-1", 'nodes accept-inventory sim-1 --reason "card sent in"'],
      asks: false,
      work: acceptInventory,
    },
    {
      usage: "confirm-lost <node>",
      description: "say that a silent node is gone for good: what runs there is replaced",
      examples: ["nodes confirm-lost sim-1", "nodes confirm-lost sim-1 --yes"],
      asks: true,
      work: confirmLost,
    },
  ] as const;
  for (const { usage, description, examples, asks, work } of changes) {
    const command = registrar
      .verb({ usage, description, examples, parent })
      .option("--reason <text>", "why, for the audit history");
    if (asks) command.option("-y, --yes", "do not ask");
    registrar.on<ChangeOptions>(command, (context, [node = ""], options) => work(context, node, options));
  }
}
