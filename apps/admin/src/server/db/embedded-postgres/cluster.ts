import { chown, mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { systemClock } from "@llmgw/service";
import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../database-log.ts";
import { readFileIfPresent } from "../read-file-if-present.ts";
import type { ServerAccount } from "./account.ts";
import type { PostgresPlaces } from "./places.ts";
import { endedError, startProgram } from "./programs.ts";

/** Role that only llmgw's own start-up uses. */
export const superuser = "postgres";
/** Major version of the programs in the npm package; its data folders say the same. */
const majorVersion = "18";
const initTimeoutMs = 120_000;

/** Whether `dataDir` holds a complete data folder. */
export async function hasData(dataDir: string): Promise<boolean> {
  return (await readFileIfPresent(path.join(dataDir, "PG_VERSION"))) !== undefined;
}

/**
 * Makes the data folder unless there is one. It is made beside its place and renamed when complete, so that an
 * interrupted start leaves nothing half made.
 * @throws DatabaseError when the data are another major version's, or when `initdb` fails (with its last lines).
 */
export async function makeCluster(options: {
  readonly places: PostgresPlaces;
  readonly nativeDir: string;
  readonly account: ServerAccount;
  readonly superuserPassword: string;
  readonly log: DatabaseLog;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { places, account, log } = options;
  const version = (await readFileIfPresent(path.join(places.dataDir, "PG_VERSION")))?.trim();
  if (version === majorVersion) {
    return;
  }
  if (version !== undefined) {
    throw new DatabaseError(
      `${places.dataDir} was made by PostgreSQL ${version}, and this llmgw brings PostgreSQL ${majorVersion}. Dump it with the llmgw that made it and load the dump into a new one.`,
    );
  }
  log.info({ dataDir: places.dataDir }, "making the embedded database (first start)");
  const partial = path.join(places.clusterDir, "data.partial");
  const passwordFile = path.join(places.clusterDir, "initial-password");
  try {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { mode: 0o700 });
    await rm(passwordFile, { force: true });
    await writeFile(passwordFile, `${options.superuserPassword}\n`, { mode: 0o600, flag: "wx" });
    if (account.kind === "other") {
      await chown(partial, account.uid, account.gid);
      await chown(passwordFile, account.uid, account.gid);
    }
    await runInitdb({ ...options, dataDir: partial, passwordFile });
    await rename(partial, places.dataDir);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function runInitdb(options: {
  readonly nativeDir: string;
  readonly account: ServerAccount;
  readonly dataDir: string;
  readonly passwordFile: string;
  readonly log: DatabaseLog;
  readonly signal: AbortSignal;
}): Promise<void> {
  const program = startProgram({
    nativeDir: options.nativeDir,
    name: "initdb",
    account: options.account,
    args: [
      `--pgdata=${options.dataDir}`,
      `--username=${superuser}`,
      `--pwfile=${options.passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // Sorting by code point: the same on every machine, whatever locales it has.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
    ],
    onLine: (line) => options.log.debug({}, `initdb: ${line}`),
  });
  const done = new AbortController();
  const stopped = AbortSignal.any([options.signal, done.signal]);
  const timeout = systemClock.sleep(initTimeoutMs, stopped).then(
    () => "timeout" as const,
    () => "stopped" as const,
  );
  const end = await Promise.race([program.ended, timeout]);
  done.abort();
  if (end === "timeout" || end === "stopped") {
    program.child.kill("SIGTERM");
    await program.ended;
    options.signal.throwIfAborted();
    throw new DatabaseError(`Making the embedded database took longer than ${initTimeoutMs / 1000} s.`);
  }
  if (end.kind !== "exit" || end.code !== 0) {
    throw endedError("Making the embedded database failed: initdb ended", end, program.lastLines());
  }
}
