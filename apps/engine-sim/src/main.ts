import { parseVllmCommandLine } from "./dialects/vllm/command-line.ts";
import { vllmHelp } from "./dialects/vllm/help.ts";
import type { ProcessPorts } from "./dialects/vllm/process-ports.ts";
import { runVllm } from "./dialects/vllm/run.ts";

const DIALECTS = ["vllm"];

await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<void> {
  const { dialect, rest } = splitDialect(argv);
  if (dialect === undefined && (rest[0] === "--help" || rest[0] === "-h")) {
    process.stdout.write(vllmHelp());
    return;
  }
  if (dialect === undefined || !DIALECTS.includes(dialect)) {
    const found =
      dialect === undefined
        ? "the following arguments are required: --dialect"
        : `argument --dialect: invalid choice: '${dialect}' (choose from ${DIALECTS.map((name) => `'${name}'`).join(", ")})`;
    process.stderr.write(`usage: engine-sim --dialect vllm serve [model_tag] [options]\nengine-sim: error: ${found}\n`);
    process.exitCode = 2;
    return;
  }
  const { VLLM_API_KEY: apiKey, LLMGW_SIM_FAIL: faults } = process.env;
  const line = parseVllmCommandLine(rest, { apiKey, faults });
  if (line.kind === "help") {
    process.stdout.write(vllmHelp());
    return;
  }
  if (line.kind === "usage") {
    process.stderr.write(line.text);
    process.exitCode = 2;
    return;
  }
  const ports = processPorts();
  const end = await runVllm(line.settings, ports);
  if (end.kind === "exit") {
    ports.exitNow(end.code);
  } else {
    ports.killSelf(end.signal);
  }
}

/** `--dialect NAME` or `--dialect=NAME` comes first; the rest is the engine's own command line. */
function splitDialect(argv: readonly string[]): { dialect: string | undefined; rest: readonly string[] } {
  const [first = "", second] = argv;
  if (first === "--dialect") {
    return { dialect: second, rest: argv.slice(2) };
  }
  return first.startsWith("--dialect=")
    ? { dialect: first.slice("--dialect=".length), rest: argv.slice(1) }
    : { dialect: undefined, rest: argv };
}

function processPorts(): ProcessPorts {
  const cleanUps: (() => void)[] = [];
  const cleanUp = () => {
    for (const each of cleanUps.splice(0)) {
      each();
    }
  };
  process.once("exit", cleanUp);
  return {
    pid: process.pid,
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    wallClockMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    exitNow: (code) => process.exit(code),
    killSelf(signal) {
      if (signal === "SIGTERM") {
        cleanUp();
        process.removeAllListeners("SIGTERM");
      }
      process.kill(process.pid, signal);
    },
    onExit: (each) => void cleanUps.push(each),
    onTerminationRequest(listener) {
      process.on("SIGTERM", listener);
      process.on("SIGINT", listener);
    },
  };
}
