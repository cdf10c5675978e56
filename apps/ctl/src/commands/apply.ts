import { readFile } from "node:fs/promises";
import { ask } from "../ctl/ask.ts";
import type { CommandContext } from "../ctl/context.ts";
import { CtlError, exit } from "../ctl/exit.ts";
import { wholeNumber } from "../ctl/numbers.ts";
import { printOne, talk } from "../ctl/output.ts";
import { plural, programName } from "../ctl/program-name.ts";
import { readManifest } from "./read-manifest.ts";

/** `ctl apply -f FILE`. */
export async function apply(context: CommandContext, { filename }: { filename: string }): Promise<number> {
  const text = await readFile(filename === "-" ? "/dev/stdin" : filename, "utf8").catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new CtlError(`cannot read ${filename}: ${why}`, exit.usage, { cause: error });
  });
  const manifest = readManifest(text, filename === "-" ? "standard input" : filename);
  const { client } = await context.connection();
  const applied = await client.models.applySpec.mutate(manifest);
  const { model, change } = applied;
  printOne(applied, context.format, {
    text: () => `${model.id} ${change} (revision ${model.revision})`,
    name: () => model.id,
  });
  return exit.ok;
}

/** `ctl scale MODEL N`. */
export async function scale(context: CommandContext, model: string, count: string): Promise<number> {
  const replicas = wholeNumber("replicas", count, { min: 0, max: 1000 });
  const { client } = await context.connection();
  const view = await client.models.scale.mutate({ model, replicas });
  printOne(view, context.format, {
    text: () => `${view.id}: ${view.desired} wanted, ${view.serving} serving`,
    name: () => view.id,
  });
  return exit.ok;
}

export interface DeleteOptions {
  readonly yes?: boolean;
  readonly reason?: string;
}

/** `ctl delete MODEL`: its replicas finish what they answer and stop. */
export async function deleteModel(context: CommandContext, name: string, options: DeleteOptions): Promise<number> {
  const { client } = await context.connection();
  const { id, placed, serving } = await client.models.get.query({ model: name });
  if (options.yes !== true) {
    const question = `Delete ${id}? ${plural(placed, "replica")} of it (${serving} serving) will stop. Type ${id} to delete it: `;
    await ask({ question, typed: id, otherwise: `add --yes to delete ${id}` });
  }
  const view = await client.models.delete.mutate({ model: id, reason: options.reason });
  printOne(view, context.format, { text: () => `${id} is deleted`, name: () => id });
  if (view.placed > 0) {
    talk(`${plural(view.placed, "replica")} of it will stop: see \`${programName()} ctl replicas\``);
  }
  return exit.ok;
}
