import { join } from "node:path";
import { createLlmgwClient, type LlmgwClient } from "@llmgw/api";
import { isLoopback, readJsonFile } from "@llmgw/service";
import { type RunFile, runFile } from "@llmgw/wire";
import { defaultDataDir } from "../up/layout.ts";
import type { ConnectOptions } from "./context.ts";
import { CtlError, exit } from "./exit.ts";

export interface Connection {
  readonly client: LlmgwClient;
  readonly url: string;
}

/**
 * Finds the admin and a token: `--url`, then LLMGW_ADMIN_URL and LLMGW_TOKEN, then the `run.json` of a cluster that
 * `llmgw up` runs on this machine: in `--data-dir`, else in LLMGW_DATA_DIR, else in the default folder. A token is
 * never taken from the command line, where others could read it.
 */
export async function connect(options: ConnectOptions, env: NodeJS.ProcessEnv): Promise<Connection> {
  const file = join(options.dataDir ?? set(env["LLMGW_DATA_DIR"]) ?? defaultDataDir(), "run.json");
  const run = await readRunFile(file);
  const local = run.kind === "ok" ? run.value : null;
  // A folder that was named on the command line says which cluster is meant, more than the environment does.
  const named = options.dataDir === undefined ? undefined : local?.adminUrl;
  const url = options.url ?? named ?? set(env["LLMGW_ADMIN_URL"]) ?? local?.adminUrl ?? "http://127.0.0.1:7070";
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new CtlError(`the admin's address is "${url}": expected a URL such as http://127.0.0.1:7070`, exit.usage);
  }
  const ownToken = local !== null && isSameListener(url, local.adminUrl) ? local.operatorToken : undefined;
  // The token of run.json belongs to its own cluster; it is not sent anywhere else.
  const isNamed = options.dataDir !== undefined && ownToken !== undefined;
  const token = isNamed ? ownToken : (set(env["LLMGW_TOKEN"]) ?? ownToken);
  if (token === undefined) throw new CtlError(noToken({ url, file, run, local }), exit.auth);
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CtlError("LLMGW_TOKEN holds spaces or characters that no token has: expected llmgw_op_…", exit.auth);
  }
  return { client: createLlmgwClient({ url, token }), url };
}

type RunReading = Awaited<ReturnType<typeof readRunFile>>;

async function readRunFile(file: string) {
  try {
    return await readJsonFile(file, runFile);
  } catch (error) {
    return { kind: "unreadable" as const, problem: error instanceof Error ? error.message : String(error) };
  }
}

function noToken(found: { url: string; file: string; run: RunReading; local: RunFile | null }): string {
  const { url, file, run, local } = found;
  const says =
    local !== null
      ? `is of another cluster, at ${local.adminUrl}`
      : run.kind === "absent"
        ? "does not exist: no cluster serves from that folder"
        : `cannot be used${"problem" in run ? `: ${run.problem}` : ""}`;
  return [
    `no operator token for ${url}. Looked at LLMGW_TOKEN (not set) and at ${file}, which ${says}.`,
    "A running `llmgw up` (npm start) writes run.json into its data folder. If it was started with --data-dir DIR, give",
    "ctl the same --data-dir DIR (or LLMGW_DATA_DIR); for a cluster elsewhere set LLMGW_ADMIN_URL and LLMGW_TOKEN.",
  ].join("\n       ");
}

/** Whether two addresses reach the same listener: every name of this machine's loopback is one. */
export function isSameListener(a: string, b: string): boolean {
  if (!URL.canParse(a) || !URL.canParse(b)) return false;
  const [one, other] = [new URL(a), new URL(b)];
  const isSameHost = one.hostname === other.hostname || (isLoop(one) && isLoop(other));
  return one.protocol === other.protocol && one.port === other.port && isSameHost;
}

const isLoop = (url: URL) => isLoopback(url.hostname.replace(/^\[|\]$/g, ""));

/** An empty variable counts as unset. */
const set = (text: string | undefined) => (text === "" ? undefined : text);
