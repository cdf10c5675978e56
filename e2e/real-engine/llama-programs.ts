import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeTinyGguf } from "./tiny-gguf.ts";

export interface LlamaPrograms {
  /** To be put first on an agent's PATH: `llama-server` and `ggml-rpc-server`. */
  readonly binDir: string;
  /** The model to serve. */
  readonly gguf: string;
}

/** Some tens of tokens a second on one core, so that a stream of some hundred can be drained and adopted. */
const tinyModel = { layers: 8, width: 512, context: 8_192 };

/**
 * The real programs of this machine, by LLAMA_SERVER and LLAMA_RPC_SERVER, and the model by GGUF; without GGUF a small
 * one with random weights is written. An agent gives its engines a clean environment, so a library path that the
 * programs need is put into the scripts that start them.
 */
export function llamaPrograms(env: Readonly<Record<string, string | undefined>>): LlamaPrograms {
  const dir = mkdtempSync(join(tmpdir(), "llmgw-real-"));
  const binDir = join(dir, "bin");
  mkdirSync(binDir);
  const libraries = env["LD_LIBRARY_PATH"] === undefined ? "" : `export LD_LIBRARY_PATH='${env["LD_LIBRARY_PATH"]}'\n`;
  for (const [name, variable] of [
    ["llama-server", "LLAMA_SERVER"],
    ["ggml-rpc-server", "LLAMA_RPC_SERVER"],
  ] as const) {
    const program = env[variable];
    if (program === undefined) {
      throw new Error(`${variable} is not set: expected the path of a real ${name}, to test with`);
    }
    writeFileSync(join(binDir, name), `#!/bin/sh\n${libraries}exec ${program} "$@"\n`);
    chmodSync(join(binDir, name), 0o755);
  }
  const given = env["GGUF"];
  if (given !== undefined) return { binDir, gguf: given };
  const gguf = join(dir, "tiny.gguf");
  writeTinyGguf(gguf, tinyModel);
  return { binDir, gguf };
}
