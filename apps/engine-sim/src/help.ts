import { SIM_HELP } from "./cli/sim-flags.ts";
import { effectiveFlagNames } from "./dialects/vllm/flags.ts";
import { FAULT_HELP } from "./faults/fault.ts";

const WIDTH = 118;

/** Text of `--help`. */
export function simulatorHelp(): string {
  return [
    "usage: engine-sim --dialect vllm serve [model_tag] [options]",
    "       engine-sim --dialect sglang serve --model-path MODEL [options]",
    "       engine-sim --dialect llamacpp llama-server -m MODEL [options]",
    "       engine-sim --dialect llamacpp ggml-rpc-server [options]",
    "",
    "Behaves like the engine on the outside, without a GPU or a model: command line, log, HTTP, metrics, signals.",
    "",
    "vLLM options with an effect (all other options of vllm serve are accepted and change nothing):",
    ...wrapped(effectiveFlagNames()),
    "",
    "simulation (times are milliseconds):",
    ...columns(SIM_HELP),
    "",
    "faults:",
    ...columns(FAULT_HELP),
    "",
    "environment: VLLM_API_KEY, LLAMA_API_KEY (API key, where no flag gives one), LLMGW_SIM_FAIL (faults, comma separated)",
    "",
  ].join("\n");
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  return rows.map(([left, right]) => `  ${left.padEnd(34)} ${right}`);
}

function wrapped(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > WIDTH) {
      lines.push(`  ${word}`);
    } else {
      lines[lines.length - 1] = `${last} ${word}`;
    }
  }
  return lines;
}
