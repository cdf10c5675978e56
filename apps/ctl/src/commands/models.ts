import type { ModelView } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";
import { formatDuration } from "@llmgw/service";
import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { gib, printOne } from "../ctl/output.ts";
import { printList, watchOption } from "../ctl/print-list.ts";
import { plural, programName } from "../ctl/program-name.ts";
import type { Registrar } from "../ctl/registrar.ts";
import { apply, type DeleteOptions, deleteModel, scale } from "./apply.ts";
import { manifestOf } from "./manifest-of.ts";

/** `ctl models`, `ctl models MODEL`. */
async function models(
  context: CommandContext,
  name: string | undefined,
  { watch }: { readonly watch?: boolean },
): Promise<number> {
  const { client } = await context.connection();
  if (name !== undefined) {
    const model = await client.models.get.query({ model: name });
    // YAML is what people write models in: the document that `apply -f` takes. JSON is the API's object.
    printOne(context.format === "yaml" ? manifestOf(model.spec) : model, context.format, {
      text: () => describeModel(model),
      name: () => model.id,
    });
    return exit.ok;
  }
  return printList(context, {
    fetch: () => client.models.list.query(),
    watch,
    name: (model) => model.id,
    empty: `No model. \`${programName()} ctl apply -f model.yaml\` deploys one.`,
    columns: [
      { head: "MODEL", cell: (model) => model.id },
      { head: "DESIRED", cell: (model) => String(model.desired) },
      { head: "PLACED", cell: (model) => String(model.placed) },
      { head: "SERVING", cell: (model) => String(model.serving) },
      { head: "MOVING", cell: (model) => String(model.moving) },
      { head: "ENGINE", cell: engineOf },
      { head: "REV", cell: (model) => String(model.revision) },
      {
        head: "WHY",
        cell: (model) => (model.reason === null ? "" : describeReason(model.reason)),
        narrow: "wrap",
      },
    ],
  });
}

const engineOf = (model: ModelView) => `${model.spec.engine.name}${model.simulated ? " (simulated)" : ""}`;

function describeModel(model: ModelView): string {
  const { spec, rollout } = model;
  const { memoryPerGpuMib, contextTokens, tp } = spec.resources;
  const { source, load } = spec;
  const from = source.kind === "hub" ? source.repo : source.kind === "path" ? source.path : source.urls.join(", ");
  const context = contextTokens === null ? "" : `, context of ${contextTokens} tokens`;
  const grace = spec.drain.graceMs === null ? "" : `, drain grace ${formatDuration(spec.drain.graceMs)}`;
  return [
    `${model.id}: ${model.desired} wanted, ${model.placed} placed, ${model.serving} serving, ${model.moving} moving; revision ${model.revision}`,
    ...(model.deletedAt === null ? [] : [`deleted at ${model.deletedAt}`]),
    ...(model.reason === null ? [] : [`why: ${describeReason(model.reason)}`]),
    ...(rollout === null
      ? []
      : [`rollout from revision ${rollout.fromRevision} to ${rollout.toRevision} by ${rollout.by}: ${rollout.status}`]),
    `source ${from} (${source.kind}), engine ${engineOf(model)} ${spec.engine.args.join(" ")}`.trimEnd(),
    `a replica takes ${tp === null ? "as many GPUs as it needs" : plural(tp, "GPU")} with ${gib(memoryPerGpuMib)} each${context}; loads in at most ${formatDuration(load.maxMs)}${grace}`,
    ...(spec.aliases.length === 0 ? [] : [`also called ${spec.aliases.join(", ")}`]),
    `as a file: ${programName()} ctl models ${model.id} -o yaml`,
  ].join("\n");
}

export function registerModels(registrar: Registrar): void {
  const list = registrar
    .verb({
      usage: "models [model]",
      description: "models: wanted, placed and serving; or one, with -o yaml as the file that apply takes",
      examples: ["models", "models demo-8b", "models demo-8b -o yaml > model.yaml", "models -w"],
    })
    .option(...watchOption);
  registrar.on<{ watch?: boolean }>(list, (context, [model], options) => models(context, model, options));
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
  const deleting = registrar
    .verb({
      usage: "delete <model>",
      description: "delete a model; its replicas finish what they answer and stop",
      examples: ["delete chat-70b", 'delete chat-70b --yes --reason "replaced by chat-72b"'],
    })
    .option("-y, --yes", "do not ask")
    .option("--reason <text>", "why, for the audit history");
  registrar.on<DeleteOptions>(deleting, (context, [model = ""], options) => deleteModel(context, model, options));
}
