import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { printOne } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

interface CordonOptions {
  readonly reason?: string;
  readonly gpu?: string;
}

/** `ctl cordon NODE` and `ctl uncordon NODE`. */
async function setTarget(
  context: CommandContext,
  target: "active" | "cordoned",
  { node, reason, gpu }: CordonOptions & { node: string },
): Promise<number> {
  const { client } = await context.connection();
  const change = await client.nodes.setAvailability.mutate({ node, target, reason, gpu });
  printOne(change, context.format, () => change.message);
  return exit.ok;
}

export function registerAvailability(registrar: Registrar): void {
  const verbs = [
    { name: "cordon", target: "cordoned", description: "place nothing new on a node; what runs stays" },
    { name: "uncordon", target: "active", description: "let a node (or GPU) take work again; stops its drain" },
  ] as const;
  for (const { name, target, description } of verbs) {
    const examples = [`${name} sim-1`, `${name} sim-1 --gpu 0 --reason "fan noise"`];
    const command = registrar
      .verb({ usage: `${name} <node>`, description, examples })
      .option("--reason <text>", "why, for the audit history")
      .option("--gpu <gpu>", "only this GPU (index or UUID)");
    registrar.on<CordonOptions>(command, (context, [node = ""], options) =>
      setTarget(context, target, { node, ...options }),
    );
  }
}
