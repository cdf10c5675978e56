import type { DrainView } from "@llmgw/api";
import { systemClock } from "@llmgw/service";
import { ask } from "../ctl/ask.ts";
import type { CommandContext } from "../ctl/context.ts";
import { CtlError, exit } from "../ctl/exit.ts";
import { milliseconds } from "../ctl/numbers.ts";
import { printOne, talk } from "../ctl/output.ts";
import { programName } from "../ctl/program-name.ts";
import type { Registrar } from "../ctl/registrar.ts";
import { untilInterrupted } from "../ctl/until-interrupted.ts";
import { closing, followDrain } from "../drain/follow.ts";
import { Progress } from "../drain/progress.ts";
import { describeDrain, describePreview, modelsLost } from "../drain/words.ts";

interface DrainOptions {
  readonly grace?: string;
  readonly with?: string[];
  readonly gpu?: string;
  readonly replica?: boolean;
  readonly reason?: string;
  readonly yes?: boolean;
  readonly acceptLoss?: string[];
  readonly dryRun?: boolean;
  readonly wait: boolean;
  readonly timeout?: string;
}

type Client = Awaited<ReturnType<CommandContext["connection"]>>["client"];

/** What is drained: a node with others, one GPU of it, or a replica. */
function previewOf(
  client: Client,
  name: string,
  { graceMs, ...options }: DrainOptions & { graceMs: number | undefined },
) {
  if (options.replica === true) return client.drains.preview.query({ replicas: [name], graceMs });
  if (options.gpu !== undefined)
    return client.drains.preview.query({ gpus: [{ node: name, gpu: options.gpu }], graceMs });
  return client.drains.preview.query({ nodes: [name, ...(options.with ?? [])], graceMs });
}

/** Starts it, if the plan still holds; answers what each drain of it is. */
async function start(
  client: Client,
  name: string,
  { graceMs, plan, ...options }: DrainOptions & { graceMs: number | undefined; plan: string },
) {
  const said = { reason: options.reason, graceMs, plan };
  if (options.replica === true) return [await client.replicas.drain.mutate({ replica: name, ...said })];
  const also = options.with === undefined ? {} : { also: options.with };
  const gpu = options.gpu === undefined ? {} : { gpu: options.gpu };
  const change = await client.nodes.setAvailability.mutate({
    node: name,
    target: "draining",
    ...also,
    ...gpu,
    ...said,
  });
  return [change, ...change.also];
}

/** `ctl drain NODE`: prints the plan, asks, starts, follows. Ctrl-C stops following, never the drain. */
async function drain(context: CommandContext, node: string, options: DrainOptions): Promise<number> {
  const graceMs = options.grace === undefined ? undefined : milliseconds("--grace", options.grace);
  const timeoutMs = options.timeout === undefined ? null : milliseconds("--timeout", options.timeout);
  const { client } = await context.connection();
  if ([options.with, options.gpu, options.replica].filter((one) => one !== undefined).length > 1) {
    throw new CtlError(
      "--with, --gpu and --replica say different things of what is drained: give one of them",
      exit.usage,
    );
  }
  const preview = await previewOf(client, node, { ...options, graceMs });
  if (options.dryRun === true) {
    printOne(preview, context.format, () => describePreview(preview));
    return preview.moves.some((move) => move.outcome === "cannot_move") ? exit.cannot : exit.ok;
  }
  talk(describePreview(preview));
  await confirm(node, modelsLost(preview), options);
  const changes = await start(client, node, { ...options, graceMs, plan: preview.plan });
  for (const change of changes) talk(change.message);
  let code: number = exit.ok;
  for (const { drain: started } of changes) {
    if (started === null) continue;
    if (options.wait) code = Math.max(code, await follow(context, started.id, timeoutMs));
    else printOne(started, context.format, () => started.id);
  }
  return code;
}

/** `ctl drain status NODE|DRAIN`. */
async function drainStatus(context: CommandContext, target: string, options: { follow?: boolean }): Promise<number> {
  const id = await drainIdOf(context, target);
  if (options.follow === true) return follow(context, id, null);
  const { client } = await context.connection();
  const view = await client.drains.get.query({ drain: id });
  printOne(view, context.format, () => describeDrain(view));
  return exit.ok;
}

/** `ctl drain stop`, `ctl drain extend`, `ctl drain force`. */
async function changeDrain(
  context: CommandContext,
  target: string,
  change: { kind: "stop"; uncordon: boolean } | { kind: "extend"; byMs: number } | { kind: "force"; yes: boolean },
): Promise<number> {
  const { client } = await context.connection();
  const id = await drainIdOf(context, target);
  if (change.kind === "force" && !change.yes) {
    throw new CtlError(
      "forcing ends replicas that have no replacement serving; add --yes if that is what you want",
      exit.usage,
    );
  }
  const view =
    change.kind === "stop"
      ? await client.drains.stop.mutate({ drain: id, uncordon: change.uncordon })
      : change.kind === "extend"
        ? await client.drains.extend.mutate({ drain: id, graceMs: change.byMs })
        : await client.drains.force.mutate({ drain: id });
  printOne(view, context.format, () => describeDrain(view));
  return exit.ok;
}

async function drainIdOf(context: CommandContext, target: string): Promise<string> {
  if (target.startsWith("drain_")) return target;
  const { client } = await context.connection();
  const { name } = await client.nodes.get.query({ node: target }); // unknown ones are told from ones never drained
  const [latest] = await client.drains.list.query({ node: target });
  if (latest === undefined) {
    const start = `${programName()} ctl drain ${name}`;
    throw new CtlError(`node ${name} has never been drained; \`${start}\` starts a drain`, exit.notFound);
  }
  return latest.id;
}

async function follow(context: CommandContext, drainId: string, timeoutMs: number | null): Promise<number> {
  const { client } = await context.connection();
  const progress = new Progress(process.stderr);
  const onChange = (drain: DrainView) => progress.show(drain);
  const followed = await untilInterrupted((signal) =>
    followDrain({ client, drainId, timeoutMs, clock: systemClock, signal, onChange }),
  );
  progress.clear();
  if (followed.kind === "ended") {
    const { code, words } = closing(followed.drain);
    printOne(followed.drain, context.format, () => words);
    return code;
  }
  const left = followed.drain === null ? "" : `\n${describeDrain(followed.drain)}`;
  talk(
    `No longer following; the drain goes on.${left}\nFollow: ${programName()} ctl drain status -f ${drainId} · stop it: ${programName()} ctl drain stop ${drainId}`,
  );
  return followed.kind === "timeout" ? exit.waitTimeout : exit.interrupted;
}

async function confirm(node: string, lost: readonly string[], options: DrainOptions): Promise<void> {
  const unaccepted = lost.filter((model) => !(options.acceptLoss ?? []).includes(model));
  if (options.yes === true) {
    if (unaccepted.length === 0) return;
    const flags = unaccepted.map((model) => `--accept-loss ${model}`).join(" ");
    throw new CtlError(
      `nothing would serve ${unaccepted.join(", ")} after the grace period; add ${flags} to drain all the same`,
      exit.usage,
    );
  }
  const question =
    unaccepted.length === 0
      ? `Drain ${node}? [y/N] `
      : `Nothing would serve ${unaccepted.join(", ")} after the grace period. Type ${node} to drain all the same: `;
  await ask({ question, typed: unaccepted.length === 0 ? null : node, otherwise: "add --yes to start the drain" });
}

export function registerDrain(registrar: Registrar): void {
  const parent = registrar
    .verb({
      usage: "drain <node>",
      description: "move everything off a node: replacements serve before originals stop",
      examples: [
        'drain sim-1 --reason "replace PSU 2"',
        "drain sim-1 --dry-run",
        "drain sim-1 --grace 30m --yes --no-wait",
        "drain sim-1 --with sim-2",
        "drain sim-1 --gpu 0",
        "drain demo-8b-abcde --replica",
        "drain status sim-1",
      ],
    })
    .option("--grace <duration>", "how long a replica may wait for a replacement (default: the models' own, else 1h)")
    .option("--with <node...>", "other nodes that are drained together with it: nothing moves from one to another")
    .option("--gpu <gpu>", "only what runs on this GPU (index or UUID)")
    .option("--replica", "the name is that of a replica: only that one moves")
    .option("--reason <text>", "why, for the audit history")
    .option("-y, --yes", "do not ask")
    .option("--accept-loss <model...>", "with --yes: drain even though nothing would serve this model")
    .option("--dry-run", "print the plan and stop (exit code 8 if something cannot move)")
    .option("--no-wait", "do not follow")
    .option("--timeout <duration>", "stop following after this long; the drain goes on");
  registrar.on<DrainOptions>(parent, (context, [node = ""], options) => drain(context, node, options));
  const status = registrar
    .verb({
      usage: "status <node>",
      description: "a node's latest drain, or a drain by its id",
      examples: ["drain status sim-1", "drain status -f sim-1"],
      parent,
    })
    .option("-f, --follow", "follow it to its end");
  registrar.on<{ follow?: boolean }>(status, (context, [target = ""], options) =>
    drainStatus(context, target, options),
  );
  const stop = registrar
    .verb({
      usage: "stop <node>",
      description: "stop a drain; the node stays cordoned unless --uncordon",
      examples: ["drain stop sim-1", "drain stop sim-1 --uncordon"],
      parent,
    })
    .option("--uncordon", "let it take work again", false);
  registrar.on<{ uncordon: boolean }>(stop, (context, [target = ""], { uncordon }) =>
    changeDrain(context, target, { kind: "stop", uncordon }),
  );
  const extend = registrar
    .verb({
      usage: "extend <node>",
      description: "give a drain's replicas more time",
      examples: ["drain extend sim-1 --by 30m", "drain extend sim-1 --by 2h"],
      parent,
    })
    .requiredOption("--by <duration>", "how much more time");
  registrar.on<{ by: string }>(extend, (context, [target = ""], { by }) =>
    changeDrain(context, target, { kind: "extend", byMs: milliseconds("--by", by) }),
  );
  const force = registrar
    .verb({
      usage: "force <node>",
      description: "end what has no replacement now; requests in flight still finish",
      examples: ["drain force sim-1 --yes", "drain force drain_0199… --yes"],
      parent,
    })
    .option("-y, --yes", "yes, lose what cannot move", false);
  registrar.on<{ yes: boolean }>(force, (context, [target = ""], { yes }) =>
    changeDrain(context, target, { kind: "force", yes }),
  );
}
