import { readFile } from "node:fs/promises";
import { ConfigError } from "@llmgw/service";
import { shardTokenVariable } from "./process-table.ts";

/** The variables of its own environment that the agent hands on: enough to find programs and a home, no secrets. */
const inherited = ["PATH", "HOME", "LANG", "TZ"];

export interface EngineEnvironment {
  readonly own: Readonly<Record<string, string | undefined>>;
  /** `LLMGW_ENGINE_ENV_FILE`: tokens and proxies that engines need. */
  readonly file: Readonly<Record<string, string>>;
  /** The model's `engine.env`. */
  readonly model: Readonly<Record<string, string>>;
  /** What the adapter sets; wins over the model's. */
  readonly adapter: Readonly<Record<string, string>>;
  readonly token: string;
}

/**
 * An engine's environment, built from nothing: the agent's own secrets, and a CUDA_VISIBLE_DEVICES that it was itself
 * started with, never reach an engine.
 */
export function engineEnvironment({ own, file, model, adapter, token }: EngineEnvironment): Record<string, string> {
  const base = inherited.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return { ...Object.fromEntries(base), ...file, ...model, ...adapter, [shardTokenVariable]: token };
}

/**
 * Reads `LLMGW_ENGINE_ENV_FILE`: one NAME=value a line, optional `export`, quotes around a value, `#` comments. Throws a
 * `ConfigError` that names the line which is none of these.
 */
export async function readEnvFile(path: string): Promise<Record<string, string>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new ConfigError(
      [`LLMGW_ENGINE_ENV_FILE is "${path}", which cannot be read: expected a file of NAME=value lines`],
      {
        cause: error,
      },
    );
  }
  return parseEnvFile(text, path);
}

export function parseEnvFile(text: string, path: string): Record<string, string> {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const match = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line);
    const [, name, value] = match ?? [];
    // The line itself may be a secret, so the message shows only where it is.
    if (name === undefined || value === undefined) problems.push(`${path}, line ${index + 1}: expected NAME=value`);
    else values[name] = unquoted(value);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return values;
}

function unquoted(value: string): string {
  const match = /^(["'])(.*)\1$/.exec(value);
  return match?.[2] ?? value;
}
