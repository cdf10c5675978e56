import type { ModelView } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";
import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { wholeNumber } from "../ctl/numbers.ts";
import { printOne } from "../ctl/output.ts";
import { plural } from "../ctl/program-name.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** How far a model is on its way to its present revision. */
export function describeRollout({ id, revision, rollout, desired, serving }: ModelView): string {
  if (rollout === null)
    return `${id}: all of revision ${revision}, ${serving} of ${plural(desired, "replica")} serving`;
  const { fromRevision, toRevision, status, updated, starting, old } = rollout;
  const head = `${id}: revision ${fromRevision} to ${toRevision} by ${rollout.by}, ${status === "failed" ? "paused as failed" : "under way"} since ${rollout.failedAt ?? rollout.startedAt}`;
  const counts = `${updated} of ${rollout.desired} serve the new revision, ${starting} start, ${old} of others are left`;
  return [head, counts, ...(rollout.reason === null ? [] : [describeReason(rollout.reason)])].join("\n");
}

/** `ctl rollout status MODEL`: exit code 8 where it is paused as failed. */
async function status(context: CommandContext, model: string): Promise<number> {
  const { client } = await context.connection();
  const view = await client.models.get.query({ model });
  printOne(view, context.format, { text: () => describeRollout(view), name: () => view.id });
  return view.rollout?.status === "failed" ? exit.cannot : exit.ok;
}

interface UndoOptions {
  readonly toRevision?: string;
  readonly reason?: string;
}

/** `ctl rollout undo MODEL`. */
async function undo(context: CommandContext, model: string, { toRevision, reason }: UndoOptions): Promise<number> {
  const revision =
    toRevision === undefined ? undefined : wholeNumber("--to-revision", toRevision, { min: 1, max: 1e9 });
  const { client } = await context.connection();
  const view = await client.models.rollback.mutate({ model, revision, reason });
  printOne(view, context.format, { text: () => describeRollout(view), name: () => view.id });
  return exit.ok;
}

/** `ctl rollout accept-gap MODEL`. */
async function acceptGap(context: CommandContext, model: string, reason: string | undefined): Promise<number> {
  const { client } = await context.connection();
  const view = await client.models.acceptGap.mutate({ model, reason });
  printOne(view, context.format, { text: () => describeRollout(view), name: () => view.id });
  return exit.ok;
}

export function registerRollout(registrar: Registrar): void {
  const parent = registrar.verb({
    usage: "rollout <model>",
    description: "how far a model's replicas are on their way to its present revision",
    examples: ["rollout demo-8b", "rollout status demo-8b", "rollout undo demo-8b"],
  });
  registrar.on(parent, (context, [model = ""]) => status(context, model));
  const showing = registrar.verb({
    usage: "status <model>",
    description: "the same; exit code 8 if it is paused as failed",
    examples: ["rollout status demo-8b", "rollout status demo-8b -o json"],
    parent,
  });
  registrar.on(showing, (context, [model = ""]) => status(context, model));
  const undoing = registrar
    .verb({
      usage: "undo <model>",
      description: "back to the revision it came from; replicas of that revision stay as they are",
      examples: ["rollout undo demo-8b", "rollout undo demo-8b --to-revision 2"],
      parent,
    })
    .option("--to-revision <n>", "back to this revision")
    .option("--reason <text>", "why, for the audit history");
  registrar.on<UndoOptions>(undoing, (context, [model = ""], options) => undo(context, model, options));
  const gap = registrar
    .verb({
      usage: "accept-gap <model>",
      description: "with whenFull: replace, let the last replica that serves end before the new one starts",
      examples: ["rollout accept-gap demo-8b", 'rollout accept-gap demo-8b --reason "night"'],
      parent,
    })
    .option("--reason <text>", "why, for the audit history");
  registrar.on<{ reason?: string }>(gap, (context, [model = ""], { reason }) => acceptGap(context, model, reason));
}
