import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { runStray, STRAY, strayWords } from "./claims/stray.ts";
import { parseLlamaArguments } from "./dialects/llamacpp/arguments.ts";
import { parseWorkerArguments, runWorker } from "./dialects/llamacpp/rpc-worker.ts";
import { runLlamaServer } from "./dialects/llamacpp/run.ts";
import type { ProcessPorts, RunEnd } from "./dialects/openai/process-ports.ts";
import { runServing } from "./dialects/openai/run.ts";
import { parseSglangCommandLine } from "./dialects/sglang/command-line.ts";
import { sglangDialect } from "./dialects/sglang/dialect.ts";
import { parseVllmCommandLine } from "./dialects/vllm/command-line.ts";
import { vllmDialect } from "./dialects/vllm/dialect.ts";
import { simulatorHelp } from "./help.ts";

const DIALECTS = ["vllm", "sglang", "llamacpp"] as const;
type DialectName = (typeof DIALECTS)[number];

/** What to run, or what to say instead. */
type Plan =
  | { readonly kind: "run"; readonly run: (ports: ProcessPorts) => Promise<RunEnd> }
  | { readonly kind: "help" }
  | { readonly kind: "refuse"; readonly text: string; readonly code: number };

await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<void> {
  if (argv[0] === STRAY) {
    runStray(argv.slice(1), process.pid);
    return;
  }
  const plan = planOf(argv);
  switch (plan.kind) {
    case "help":
      process.stdout.write(simulatorHelp());
      return;
    case "refuse":
      process.stderr.write(plan.text);
      process.exitCode = plan.code;
      return;
    case "run": {
      const ports = processPorts();
      const end = await plan.run(ports);
      if (end.kind === "exit") {
        ports.exitNow(end.code);
      } else {
        ports.killSelf(end.signal);
      }
    }
  }
}

function planOf(argv: readonly string[]): Plan {
  const { dialect, rest } = splitDialect(argv);
  const known = DIALECTS.find((name) => name === dialect);
  if (dialect === undefined && (rest[0] === "--help" || rest[0] === "-h")) {
    return { kind: "help" };
  }
  if (known === undefined) {
    const choices = DIALECTS.map((name) => `'${name}'`).join(", ");
    const found =
      dialect === undefined
        ? "the following arguments are required: --dialect"
        : `argument --dialect: invalid choice: '${dialect}' (choose from ${choices})`;
    const usage = "usage: engine-sim --dialect {vllm,sglang,llamacpp} command [options]";
    return { kind: "refuse", text: `${usage}\nengine-sim: error: ${found}\n`, code: 2 };
  }
  return planDialect(known, rest);
}

function planDialect(dialect: DialectName, words: readonly string[]): Plan {
  const { VLLM_API_KEY: vllmKey, LLAMA_API_KEY: llamaKey, LLMGW_SIM_FAIL: faults } = process.env;
  switch (dialect) {
    case "vllm": {
      const line = parseVllmCommandLine(words, { apiKey: vllmKey, faults });
      if (line.kind === "help") return line;
      if (line.kind === "usage") return { kind: "refuse", text: line.text, code: 2 };
      return { kind: "run", run: (ports) => runServing(vllmDialect, line.settings, ports) };
    }
    case "sglang": {
      const line = parseSglangCommandLine(words, { faults, readFile: (path) => readFileSync(path, "utf8") });
      if (line.kind === "help") return line;
      if (line.kind === "usage") return { kind: "refuse", text: line.text, code: 2 };
      return { kind: "run", run: (ports) => runServing(sglangDialect, line.settings, ports) };
    }
    case "llamacpp":
      return planLlama(words, { apiKey: llamaKey, faults });
  }
}

/** llama.cpp is two programs: the first word says which. */
function planLlama(
  [program, ...words]: readonly string[],
  environment: { readonly apiKey: string | undefined; readonly faults: string | undefined },
): Plan {
  if (program === "ggml-rpc-server" || program === "rpc-server") {
    const line = parseWorkerArguments(words);
    if (line.kind === "refused") return { kind: "refuse", text: line.text, code: 1 };
    return { kind: "run", run: (ports) => runWorker(line, ports) };
  }
  if (program !== "llama-server") {
    const expected = "expected llama-server or ggml-rpc-server as the first word";
    return { kind: "refuse", text: `engine-sim: error: found '${program ?? ""}', ${expected}\n`, code: 2 };
  }
  const line = parseLlamaArguments(words, environment);
  if (line.kind === "refused") return { kind: "refuse", text: line.text, code: 1 };
  return { kind: "run", run: (ports) => runLlamaServer(line.settings, ports) };
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
      if (signal === "SIGTERM" || signal === "SIGABRT") {
        cleanUp();
        process.removeAllListeners("SIGTERM");
      }
      process.kill(process.pid, signal);
    },
    onExit: (each) => void cleanUps.push(each),
    forkStray(claim) {
      const words = [...process.execArgv, process.argv[1] ?? "", ...strayWords(claim)];
      spawn(process.execPath, words, { detached: true, stdio: "ignore" }).unref();
    },
    onTerminationRequest(listener) {
      process.on("SIGTERM", listener);
      process.on("SIGINT", listener);
    },
  };
}
