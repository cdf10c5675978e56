import type { KeyChange, KeyView } from "@llmgw/api";
import { parseDuration } from "@llmgw/service";
import type { Command } from "commander";
import type { CommandContext } from "../ctl/context.ts";
import { CtlError, exit } from "../ctl/exit.ts";
import { age, printOne, printRows, talk } from "../ctl/output.ts";
import { programName } from "../ctl/program-name.ts";
import type { Registrar } from "../ctl/registrar.ts";
import { limitOf, limitWords } from "./key-words.ts";

interface KeyOptions {
  readonly model?: readonly string[] | undefined;
  readonly band?: "interactive" | "standard" | "batch" | undefined;
  readonly requestsPerMinute?: string | undefined;
  readonly tokensPerMinute?: string | undefined;
  readonly concurrent?: string | undefined;
  readonly expires?: string | undefined;
  readonly explain?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** `ctl keys`: every inference key, without its secret. */
async function list(context: CommandContext, { all }: { all: boolean }): Promise<number> {
  const { client } = await context.connection();
  const nowMs = Date.now();
  const keys = (await client.keys.list.query()).filter(({ revokedAt }) => all || revokedAt === null);
  printRows(keys, {
    format: context.format,
    name: (key) => key.id,
    empty: `There is no key. Make one with \`${programName()} ctl keys create NAME\`.`,
    columns: [
      { head: "NAME", cell: (key) => key.name },
      { head: "BEGINS", cell: (key) => `${key.prefix}…` },
      { head: "STATE", cell: (key) => stateOf(key, nowMs) },
      { head: "MODELS", cell: (key) => key.models.join(",") },
      { head: "BAND", cell: (key) => key.maxBand },
      { head: "LIMITS", cell: (key) => limitWords(key.limits) },
      { head: "MADE", cell: (key) => age(key.createdAt, nowMs) },
      { head: "ID", cell: (key) => key.id },
    ],
  });
  return exit.ok;
}

function stateOf({ revokedAt, expiresAt }: KeyView, nowMs: number): string {
  if (revokedAt !== null) return `revoked ${age(revokedAt, nowMs)} ago`;
  if (expiresAt === null) return "active";
  return Date.parse(expiresAt) <= nowMs ? "expired" : `active until ${expiresAt.slice(0, 16)}Z`;
}

/** `ctl keys create`: the only time that a secret is shown. */
async function create(context: CommandContext, name: string, options: KeyOptions): Promise<number> {
  const { client } = await context.connection();
  const created = await client.keys.create.mutate({ name, ...fieldsOf(options), limits: limitsOf(options) });
  talk(`Key "${name}" is made. This is the only time that its secret is shown:`);
  printOne(created, context.format, () => created.secret);
  return confirmed(created);
}

/** `ctl keys update`: what is not given stays as it is. */
async function update(context: CommandContext, key: string, options: KeyOptions): Promise<number> {
  const { client } = await context.connection();
  const known = (await client.keys.list.query()).findLast(({ id, name }) => id === key || name === key);
  const limits = { ...known?.limits, ...limitsOf(options) };
  const change = await client.keys.update.mutate({ key, ...fieldsOf(options), limits });
  printOne(change, context.format, () => `Key "${change.key.name}": ${limitWords(change.key.limits)}.`);
  return confirmed(change);
}

/** `ctl keys revoke`: for good. */
async function revoke(context: CommandContext, key: string, options: { reason?: string }): Promise<number> {
  const { client } = await context.connection();
  const change = await client.keys.revoke.mutate({ key, reason: options.reason });
  printOne(change, context.format, () => `Key "${change.key.name}" is revoked.`);
  return confirmed(change);
}

/** Exit code 1 while a router may still act by what was before. */
function confirmed({ unconfirmedRouters }: KeyChange): number {
  if (unconfirmedRouters.length === 0) return exit.ok;
  talk(`Not confirmed yet by ${unconfirmedRouters.join(", ")}: see \`${programName()} ctl routers\`.`);
  return exit.refused;
}

function fieldsOf({ model, band, expires, explain, reason }: KeyOptions) {
  return {
    ...(model === undefined ? {} : { models: [...model] }),
    ...(band === undefined ? {} : { maxBand: band }),
    ...(explain === undefined ? {} : { mayExplain: explain }),
    ...(expires === undefined ? {} : { expiresAt: expiryOf(expires) }),
    reason,
  };
}

/** `never`, a duration from now, or an instant. */
function expiryOf(text: string): string | null {
  if (text === "never") return null;
  const afterMs = parseDuration(text);
  if (afterMs !== undefined) return new Date(Date.now() + afterMs).toISOString();
  const atMs = Date.parse(text);
  if (!Number.isNaN(atMs)) return new Date(atMs).toISOString();
  const expected = 'expected "never", a duration such as 30d, or an instant such as 2030-01-01T00:00Z';
  throw new CtlError(`--expires is "${text}": ${expected}`, exit.usage);
}

/** The limits that were given; `none` lifts one. */
function limitsOf({ requestsPerMinute, tokensPerMinute, concurrent }: KeyOptions) {
  return {
    ...(requestsPerMinute === undefined
      ? {}
      : { requestsPerMinute: limitOf("--requests-per-minute", requestsPerMinute) }),
    ...(tokensPerMinute === undefined ? {} : { tokensPerMinute: limitOf("--tokens-per-minute", tokensPerMinute) }),
    ...(concurrent === undefined ? {} : { concurrent: limitOf("--concurrent", concurrent) }),
  };
}

function withFields(command: Command): Command {
  return command
    .option("--model <id...>", 'models that it may use ("*": all)')
    .option("--band <band>", "highest band of its requests: interactive, standard or batch")
    .option("--requests-per-minute <n>", 'or "none"')
    .option("--tokens-per-minute <n>", 'of prompts and answers together, or "none"')
    .option("--concurrent <n>", 'requests at a time, or "none"')
    .option("--expires <when>", 'a duration from now, an instant, or "never"')
    .option("--explain", "its holder may have routing decisions kept for operators to look at")
    .option("--no-explain", "its holder may not")
    .option("--reason <text>", "why, for the audit history");
}

export function registerKeys(registrar: Registrar): void {
  const keys = registrar
    .verb({
      usage: "keys",
      description: "keys of inference clients",
      examples: ["keys", "keys create alice --model chat-70b --requests-per-minute 600", "keys revoke alice"],
    })
    .option("--all", "revoked ones too", false);
  registrar.on<{ all: boolean }>(keys, (context, _args, options) => list(context, options));
  const creating = registrar.verb({
    usage: "create <name>",
    description: "make a key and show its secret, once",
    examples: ["keys create alice", "keys create nightly --model chat-70b --band batch --concurrent 8 --expires 90d"],
    parent: keys,
  });
  registrar.on<KeyOptions>(withFields(creating), (context, [name = ""], options) => create(context, name, options));
  const updating = registrar.verb({
    usage: "update <key>",
    description: "change a key's models, band, limits or end; what is not given stays",
    examples: ["keys update alice --tokens-per-minute 200000", "keys update alice --concurrent none --expires never"],
    parent: keys,
  });
  registrar.on<KeyOptions>(withFields(updating), (context, [key = ""], options) => update(context, key, options));
  const revoking = registrar
    .verb({
      usage: "revoke <key>",
      description: "end a key for good, on every router within seconds",
      examples: ["keys revoke alice", 'keys revoke alice --reason "left the team"'],
      parent: keys,
    })
    .option("--reason <text>", "why, for the audit history");
  registrar.on<{ reason?: string }>(revoking, (context, [key = ""], options) => revoke(context, key, options));
}
