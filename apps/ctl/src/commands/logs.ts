import type { LlmgwClient } from "@llmgw/api";
import { type Clock, systemClock } from "@llmgw/service";
import type { CommandContext } from "../ctl/context.ts";
import { CtlError, exit } from "../ctl/exit.ts";
import { wholeNumber } from "../ctl/numbers.ts";
import { talk, write } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";
import { isUnreachable } from "../ctl/report-error.ts";
import { untilInterrupted } from "../ctl/until-interrupted.ts";
import { logNews } from "./log-news.ts";

interface LogsOptions {
  readonly lines: string;
  readonly previous?: boolean;
  readonly follow?: boolean;
}

/** The most lines that the API answers with. */
const maxLines = 2000;

/** `ctl logs REPLICA[/SHARD]`. */
async function logs(context: CommandContext, target: string, options: LogsOptions): Promise<number> {
  const lines = wholeNumber("--lines", options.lines, { min: 1, max: maxLines });
  const [replica = "", shard = "0"] = target.split("/");
  const rank = wholeNumber("the shard (REPLICA/SHARD)", shard, { min: 0, max: 10_000 });
  const previous = options.previous ?? false;
  if (previous && options.follow === true) {
    throw new CtlError("--previous is the log of a run that has ended: leave out --follow", exit.usage);
  }
  const { client } = await context.connection();
  const tail = await client.replicas.logs.query({ replica, rank, lines, previous });
  if (tail.truncated) talk("(older lines left out; --lines shows more)");
  for (const line of tail.lines) write(line);
  if (options.follow !== true) return exit.ok;
  return untilInterrupted((signal) =>
    followLog(client, { replica, rank, seen: tail.lines, clock: systemClock, signal }),
  );
}

interface FollowLog {
  readonly replica: string;
  readonly rank: number;
  readonly seen: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Prints what is new in a log, asking once a second, until Ctrl-C. */
async function followLog(client: LlmgwClient, options: FollowLog): Promise<number> {
  const { replica, rank, clock, signal } = options;
  let { seen } = options;
  let isAway = false;
  while (!signal.aborted) {
    await clock.sleep(1_000, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) break;
    try {
      const { lines } = await client.replicas.logs.query({ replica, rank, lines: maxLines, previous: false });
      const news = logNews(seen, lines);
      if (news.missed) talk("(the log begins anew, or lines between are left out)");
      for (const line of news.lines) write(line);
      seen = lines;
      isAway = false;
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      if (!isAway) talk("the admin does not answer; waiting for it");
      isAway = true;
    }
  }
  return exit.interrupted;
}

export function registerLogs(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "logs <replica>",
      description: "an engine's log (REPLICA or REPLICA/SHARD)",
      examples: ["logs demo-8b-abcde", "logs -f demo-8b-abcde", "logs demo-8b-abcde/0 --previous"],
      prints: false,
    })
    .option("--lines <n>", "how many lines", "200")
    .option("-f, --follow", "go on printing what is added")
    .option("--previous", "of the run before");
  registrar.on<LogsOptions>(command, (context, [target = ""], options) => logs(context, target, options));
}
