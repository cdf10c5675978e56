import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../database-log.ts";

/** The account the server runs as: the one that started it, or another one because PostgreSQL refuses root. */
export type ServerAccount =
  | { readonly kind: "self" }
  | { readonly kind: "other"; readonly uid: number; readonly gid: number };

const ownName = "llmgw-postgres";
const run = promisify(execFile);

/**
 * Chooses the account. For root: the owner of data that is there already, else the system user `llmgw-postgres` or
 * `postgres`, else a new system user `llmgw-postgres`, else `nobody`.
 * @param options.dataOwner owner of the existing data, undefined when there is none yet.
 * @throws DatabaseError when root has no account to hand the server to.
 */
export async function chooseAccount(options: {
  readonly dataOwner: { readonly uid: number; readonly gid: number } | undefined;
  readonly log: DatabaseLog;
}): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) {
    return { kind: "self" };
  }
  if (options.dataOwner !== undefined && options.dataOwner.uid !== 0) {
    return { kind: "other", uid: options.dataOwner.uid, gid: options.dataOwner.gid };
  }
  const existing = (await lookUp(ownName)) ?? (await lookUp("postgres"));
  if (existing !== undefined) {
    return existing;
  }
  const made = (await makeUser(options.log)) ?? (await lookUp("nobody"));
  if (made === undefined) {
    throw new DatabaseError(
      `PostgreSQL refuses to run as root, and there is no user "postgres" or "nobody" nor a way to add one (useradd). Start llmgw as an ordinary user, add a user "postgres", or set DATABASE_URL.`,
    );
  }
  return made;
}

async function lookUp(name: string): Promise<ServerAccount | undefined> {
  try {
    const [uid, gid] = await Promise.all(
      ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, name], { timeout: 10_000 })).stdout)),
    );
    return uid === undefined || gid === undefined ? undefined : { kind: "other", uid, gid };
  } catch {
    // `id` fails for a name that does not exist: no such account.
    return undefined;
  }
}

async function makeUser(log: DatabaseLog): Promise<ServerAccount | undefined> {
  try {
    await run(
      "useradd",
      ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/false", ownName],
      { timeout: 30_000 },
    );
    log.info({ user: ownName }, "added a system user, because PostgreSQL refuses to run as root");
  } catch (error) {
    log.debug({ error: String(error) }, "could not add a system user for PostgreSQL");
  }
  return await lookUp(ownName);
}
