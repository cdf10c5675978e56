import { runMain } from "@llmgw/service";
import { isProgram, programs, runProgram } from "./programs.ts";

function usage(): string {
  const rows = [
    ["up", "starts a whole cluster on this machine (what `npm start` runs)"],
    ["ctl", "the command line: nodes, replicas, drain, explain-placement, …"],
    ...Object.entries(programs).map(([name, { help }]) => [name, help]),
  ];
  const width = Math.max(...rows.map(([name]) => (name ?? "").length));
  return `Usage: llmgw <program> [options]\n\n${rows.map(([name, help]) => `  ${(name ?? "").padEnd(width)}  ${help}`).join("\n")}\n\n\`llmgw <program> --help\` tells more, \`llmgw --version\` which version this is.\n`;
}

await runMain(async () => {
  const [name, ...rest] = process.argv.slice(2);
  if (name === "up") return (await import("./up/up.ts")).up(rest, process.env);
  if (name === "ctl") return (await import("./ctl/ctl.ts")).ctl(rest, process.env);
  if (isProgram(name)) return runProgram(name, rest);
  if (name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(usage());
    return 0;
  }
  if (name === "--version" || name === "-V" || name === "version") {
    const { buildInfo } = await import("@llmgw/service/build-info");
    process.stdout.write(`${(await import("./commands/version.ts")).versionLine(buildInfo())}\n`);
    return 0;
  }
  process.stderr.write(`${name === undefined ? "" : `llmgw: there is no program "${name}".\n`}${usage()}`);
  return 2;
});
