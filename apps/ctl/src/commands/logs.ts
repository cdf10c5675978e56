import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { talk, write } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl logs REPLICA[/SHARD]`. */
async function logs(
  context: CommandContext,
  target: string,
  options: { lines: string; previous?: boolean },
): Promise<number> {
  const { client } = await context.connection();
  const [replica = "", rank = "0"] = target.split("/");
  const { lines, truncated } = await client.replicas.logs.query({
    replica,
    rank: Number(rank),
    lines: Number(options.lines),
    previous: options.previous ?? false,
  });
  if (truncated) talk("(older lines left out; --lines shows more)");
  for (const line of lines) write(line);
  return exit.ok;
}

export function registerLogs(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "logs <replica>",
      description: "an engine's log (REPLICA or REPLICA/SHARD)",
      examples: ["logs demo-8b-abcde", "logs demo-8b-abcde/0 --previous"],
    })
    .option("--lines <n>", "how many lines", "200")
    .option("--previous", "of the run before");
  registrar.on<{ lines: string; previous?: boolean }>(command, (context, [target = ""], options) =>
    logs(context, target, options),
  );
}
