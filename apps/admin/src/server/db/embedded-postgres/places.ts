import { createHash, randomBytes } from "node:crypto";
import { access, chmod, constants, lstat, mkdir, readdir, realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { readJsonFile, writeFileAtomic } from "@llmgw/service";
import { z } from "zod";
import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../database-log.ts";

/** Where the parts of one embedded server lie. */
export interface PostgresPlaces {
  /** `<llmgw data dir>/postgres`: passwords, remembered port, pointer. Belongs to whoever runs llmgw. */
  readonly settingsDir: string;
  /** Parent of `dataDir`. The same as `settingsDir` unless another account runs the server. */
  readonly clusterDir: string;
  /** What PostgreSQL calls PGDATA. Absent before the first start. */
  readonly dataDir: string;
  /** Folder for a copy of the programs. */
  readonly softwareDir: string;
  /** Owner of `dataDir`, undefined before the first start. */
  readonly dataOwner: { readonly uid: number; readonly gid: number } | undefined;
  /** Folder of root's temporary clusters when this is one of them. */
  readonly temporaryClusters: string | undefined;
}

/** Folder for system-wide state, when root runs llmgw. */
const systemDir = "/var/lib/llmgw";

const pointerSchema = z.object({ id: z.string(), llmgwDataDir: z.string(), clusterDir: z.string() });
type Pointer = z.infer<typeof pointerSchema>;

/**
 * Decides where the server's data and programs lie, making the folders but not the data.
 *
 * An ordinary user's data lie inside the llmgw data folder. Root hands the server to another account, which may not
 * be able to reach that folder (a clone below root's 0700 home), so its data lie below /var/lib/llmgw (below the
 * temporary folder if the llmgw data folder is temporary itself), and `postgres/location.json` says where.
 */
export async function findPlaces(options: {
  readonly llmgwDataDir: string;
  readonly log: DatabaseLog;
}): Promise<PostgresPlaces> {
  const settingsDir = path.join(path.resolve(options.llmgwDataDir), "postgres");
  await makeSettingsDir(settingsDir);
  const inside = path.join(settingsDir, "data");
  const insideOwner = await ownerOf(inside);
  if (process.getuid?.() !== 0) {
    return {
      settingsDir,
      clusterDir: settingsDir,
      dataDir: inside,
      softwareDir: path.join(settingsDir, "software"),
      dataOwner: insideOwner,
      temporaryClusters: undefined,
    };
  }
  const realDataDir = await realpath(options.llmgwDataDir);
  const temporary = await realpath(tmpdir());
  const temporaryBase = path.join(temporary, "llmgw-root");
  const isTemporary = realDataDir.startsWith(`${temporary}${path.sep}`);
  const base = isTemporary ? temporaryBase : await firstWritable([systemDir, temporaryBase]);
  const softwareDir = path.join(base, "software");
  await makeRootDir(base);
  await makeRootDir(softwareDir);
  // Data that an ordinary user's start left inside stay there, and with that user.
  const clusterDir =
    insideOwner === undefined
      ? await clusterDirOfRoot({ settingsDir, realDataDir, base, log: options.log })
      : settingsDir;
  const dataDir = path.join(clusterDir, "data");
  return {
    settingsDir,
    clusterDir,
    dataDir,
    softwareDir,
    dataOwner: insideOwner ?? (await ownerOf(dataDir)),
    temporaryClusters: isTemporary ? path.join(base, "postgres") : undefined,
  };
}

/** What `location.json` of a settings or cluster folder says: which llmgw data folder and cluster belong together. */
export async function readPointer(folder: string): Promise<Pointer | undefined> {
  const file = path.join(folder, "location.json");
  const found = await readJsonFile(file, pointerSchema);
  if (found.kind === "invalid") {
    throw new DatabaseError(
      `The place of the embedded database cannot be read: ${found.problem}. Restore that file, or delete it to begin with an empty database.`,
    );
  }
  return found.kind === "ok" ? found.value : undefined;
}

async function clusterDirOfRoot(options: {
  readonly settingsDir: string;
  readonly realDataDir: string;
  readonly base: string;
  readonly log: DatabaseLog;
}): Promise<string> {
  const { settingsDir, realDataDir, base, log } = options;
  const pointer = await readPointer(settingsDir);
  const copied = pointer !== undefined && (await isCopy(pointer, realDataDir));
  if (copied) {
    log.warn(
      { from: pointer.llmgwDataDir, to: realDataDir },
      "this data folder is a copy of another one: beginning with an empty database, not sharing that one's",
    );
  }
  const kept = copied ? undefined : pointer;
  // The random part keeps a new clone from inheriting the database of a deleted one at the same path.
  const id = kept?.id ?? randomBytes(6).toString("hex");
  const hash = createHash("sha256").update(realDataDir).digest("hex").slice(0, 12);
  const clusterDir = kept?.clusterDir ?? path.join(base, "postgres", `${hash}-${id}`);
  await makeRootDir(path.dirname(clusterDir));
  await makeRootDir(clusterDir);
  if (kept?.llmgwDataDir !== realDataDir) {
    const next: Pointer = { id, llmgwDataDir: realDataDir, clusterDir };
    for (const folder of [settingsDir, clusterDir]) {
      await writeFileAtomic(path.join(folder, "location.json"), `${JSON.stringify(next, undefined, 2)}\n`);
    }
  }
  return clusterDir;
}

/** A pointer that names another folder: that folder was moved here, unless it still lies there with the same id. */
async function isCopy(pointer: Pointer, realDataDir: string): Promise<boolean> {
  if (pointer.llmgwDataDir === realDataDir) {
    return false;
  }
  return (await readPointer(path.join(pointer.llmgwDataDir, "postgres")))?.id === pointer.id;
}

async function ownerOf(file: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const { uid, gid } = await stat(file);
    return { uid, gid };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}

/** Makes the folder. A start by another user, root say, may have left it or files in it that this one cannot use. */
async function makeSettingsDir(settingsDir: string): Promise<void> {
  try {
    await mkdir(settingsDir, { recursive: true, mode: 0o700 });
    await access(settingsDir, constants.R_OK | constants.W_OK | constants.X_OK);
    const files = (await readdir(settingsDir, { withFileTypes: true })).filter((entry) => entry.isFile());
    await Promise.all(files.map(({ name }) => accessIfPresent(path.join(settingsDir, name))));
  } catch (cause) {
    throw new DatabaseError(
      `Cannot use the folder ${settingsDir}: ${cause instanceof Error ? cause.message : String(cause)}. It may belong to another user (an earlier start as root?). Give it and what is in it to the user who runs llmgw, or set LLMGW_DATA_DIR to another folder.`,
      { cause },
    );
  }
}

async function accessIfPresent(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) {
      throw error;
    }
  }
}

/** Makes a folder that every account can pass through and only root can change. */
async function makeRootDir(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  const found = await lstat(dir);
  if (!found.isDirectory() || found.uid !== 0) {
    throw new DatabaseError(
      `${dir} must be a folder that belongs to root, because root runs programs from it; it belongs to user id ${found.uid}. Remove it and start again.`,
    );
  }
  await chmod(dir, 0o755);
}

async function firstWritable(dirs: readonly [string, ...string[]]): Promise<string> {
  for (const dir of dirs) {
    try {
      await mkdir(dir, { recursive: true });
      return dir;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && (error.code === "EROFS" || error.code === "EACCES"))) {
        throw error;
      }
    }
  }
  throw new DatabaseError(
    `None of the folders ${dirs.join(", ")} can be written. Set DATABASE_URL to a PostgreSQL server of yours.`,
  );
}
