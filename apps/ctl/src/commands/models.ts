import { readFile } from "node:fs/promises";
import { describeReason } from "@llmgw/domain";
import type { ModelManifest } from "@llmgw/wire";
import { modelManifest } from "@llmgw/wire";
import { parse } from "yaml";
import type { CommandContext } from "../ctl/context.ts";
import { CtlError, exit } from "../ctl/exit.ts";
import { printRows, talk, write } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl models`. */
async function models(context: CommandContext): Promise<number> {
  const { client } = await context.connection();
  const rows = await client.models.list.query();
  printRows(rows, {
    format: context.format,
    name: (model) => model.id,
    empty: "No model. `npx llmgw ctl apply -f model.yaml` deploys one.",
    columns: [
      { head: "MODEL", cell: (model) => model.id },
      { head: "DESIRED", cell: (model) => String(model.desired) },
      { head: "PLACED", cell: (model) => String(model.placed) },
      { head: "SERVING", cell: (model) => String(model.serving) },
      { head: "MOVING", cell: (model) => String(model.moving) },
      { head: "ENGINE", cell: (model) => `${model.spec.engine.name}${model.simulated ? " (simulated)" : ""}` },
      { head: "REV", cell: (model) => String(model.revision) },
      { head: "WHY", cell: (model) => (model.reason === null ? "" : describeReason(model.reason)) },
    ],
  });
  return exit.ok;
}

/** `ctl apply -f FILE`. */
async function apply(context: CommandContext, options: { filename: string }): Promise<number> {
  const text = await readFile(options.filename === "-" ? "/dev/stdin" : options.filename, "utf8").catch(
    (error: unknown) => {
      throw new CtlError(
        `cannot read ${options.filename}: ${error instanceof Error ? error.message : String(error)}`,
        exit.usage,
      );
    },
  );
  const { client } = await context.connection();
  const { model, change } = await client.models.applySpec.mutate(readManifest(text, options.filename));
  write(`${model.id} ${change} (revision ${model.revision})`);
  return exit.ok;
}

function readManifest(text: string, filename: string): ModelManifest {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new CtlError(
      `${filename} is not YAML: ${error instanceof Error ? error.message : String(error)}`,
      exit.usage,
      { cause: error },
    );
  }
  const checked = modelManifest.safeParse(value);
  if (!checked.success) {
    const problems = checked.error.issues.map((issue) => `  ${issue.path.join(".") || "(top)"}: ${issue.message}`);
    throw new CtlError(`${filename} is not a model:\n${problems.join("\n")}`, exit.usage);
  }
  return value as ModelManifest; // what was just checked
}

/** `ctl scale MODEL N`. */
async function scale(context: CommandContext, model: string, replicas: string): Promise<number> {
  const count = Number(replicas);
  if (!Number.isInteger(count) || count < 0)
    throw new CtlError(`replicas: expected a whole number, found "${replicas}"`, exit.usage);
  const { client } = await context.connection();
  const view = await client.models.scale.mutate({ model, replicas: count });
  talk(`${view.id}: ${view.desired} wanted, ${view.serving} serving`);
  return exit.ok;
}

export function registerModels(registrar: Registrar): void {
  const list = registrar.verb({
    usage: "models",
    description: "models: wanted, placed and serving",
    examples: ["models", "models -o json"],
  });
  registrar.on(list, models);
  const applying = registrar
    .verb({
      usage: "apply",
      description: "create or change a model from a file",
      examples: ["apply -f model.yaml", "apply -f - < model.yaml"],
    })
    .requiredOption("-f, --filename <file>", "the model's YAML; - reads standard input");
  registrar.on<{ filename: string }>(applying, (context, _args, options) => apply(context, options));
  const scaling = registrar.verb({
    usage: "scale <model> <replicas>",
    description: "change how many replicas a model has",
    examples: ["scale demo-8b 3", "scale demo-8b 0"],
  });
  registrar.on(scaling, (context, [model = "", count = ""]) => scale(context, model, count));
}
