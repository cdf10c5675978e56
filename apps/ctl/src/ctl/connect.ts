import { join } from "node:path";
import { createLlmgwClient, type LlmgwClient } from "@llmgw/api";
import { readJsonFile } from "@llmgw/service";
import { runFile } from "@llmgw/wire";
import { defaultDataDir } from "../up/layout.ts";
import { CtlError, exit } from "./exit.ts";

export interface Connection {
  readonly client: LlmgwClient;
  readonly url: string;
}

/**
 * Finds the admin and a token: `--url`, then LLMGW_ADMIN_URL and LLMGW_TOKEN, then the `run.json` of a cluster that
 * `llmgw up` runs on this machine. A token is never taken from the command line, where others could read it.
 */
export async function connect(options: { url?: string | undefined }, env: NodeJS.ProcessEnv): Promise<Connection> {
  const file = join(env["LLMGW_DATA_DIR"] ?? defaultDataDir(), "run.json");
  const run = await readJsonFile(file, runFile);
  const local = run.kind === "ok" ? run.value : null;
  const url = options.url ?? env["LLMGW_ADMIN_URL"] ?? local?.adminUrl ?? "http://127.0.0.1:7070";
  // The token of run.json belongs to its own cluster; it is not sent anywhere else.
  const token = env["LLMGW_TOKEN"] ?? (local !== null && url === local.adminUrl ? local.operatorToken : undefined);
  if (token === undefined) {
    throw new CtlError(
      `no operator token for ${url}. Set LLMGW_TOKEN, or run this on the machine and as the user of a running \`llmgw up\` (${file} is ${run.kind}).`,
      exit.auth,
    );
  }
  return { client: createLlmgwClient({ url, token }), url };
}
