import { access, chmod, constants, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { DatabaseLog } from "../database-log.ts";
import type { PostgresPackage } from "./package.ts";
import { isAlive } from "./process-table.ts";

const programs = ["initdb", "postgres"] as const;
const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Gives a folder from which the server's account can run PostgreSQL: the package's own folder where that is usable
 * in place, else a copy (about 60 MB, made once a version) below `stageBelow`.
 * @param options.inPlace false when another account runs the server: it may not be able to read `node_modules`.
 * @returns the folder that holds `bin`, `lib` and `share`.
 */
export async function prepareSoftware(options: {
  readonly source: PostgresPackage;
  readonly stageBelow: string;
  readonly inPlace: boolean;
  readonly log: DatabaseLog;
}): Promise<string> {
  const { source, stageBelow, inPlace, log } = options;
  if (inPlace && (await isUsable(source.nativeDir))) {
    return source.nativeDir;
  }
  const target = path.join(stageBelow, `postgres-${source.label}`);
  if (await isUsable(target)) {
    return target;
  }
  log.info({ target }, "copying the PostgreSQL programs (once)");
  await mkdir(stageBelow, { recursive: true });
  await removeAbandonedCopies(target);
  const partial = `${target}.partial-${process.pid}`;
  await rm(partial, { recursive: true, force: true });
  await cp(source.nativeDir, partial, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  await addMissingLinks(partial);
  await makeReadable(partial);
  await publish(partial, target);
  return target;
}

/** npm may have unpacked the package without running its install script, which makes the library links. */
async function isUsable(nativeDir: string): Promise<boolean> {
  try {
    const links = await readLinks(nativeDir);
    await Promise.all([
      ...links.map((link) => access(link.target)),
      ...programs.map((program) => access(path.join(nativeDir, "bin", program), constants.X_OK)),
    ]);
    return true;
  } catch {
    return false;
  }
}

async function readLinks(nativeDir: string): Promise<{ source: string; target: string }[]> {
  const listed = linksSchema.parse(JSON.parse(await readFile(path.join(nativeDir, "pg-symlinks.json"), "utf8")));
  // The list's paths begin with the package's folder name "native".
  const inside = (file: string) => path.join(nativeDir, path.relative("native", file));
  return listed.map(({ source, target }) => ({ source: inside(source), target: inside(target) }));
}

async function addMissingLinks(nativeDir: string): Promise<void> {
  for (const { source, target } of await readLinks(nativeDir)) {
    try {
      await symlink(path.relative(path.dirname(target), source), target);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
        throw error;
      }
    }
  }
}

/** A strict umask at install time leaves files that only their owner can read. */
async function makeReadable(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const file = path.join(dir, entry.name);
    if (entry.isDirectory()) {
      await makeReadable(file);
    } else if (entry.isFile()) {
      const executable = path.basename(dir) === "bin" || ((await stat(file)).mode & 0o100) !== 0;
      await chmod(file, executable ? 0o755 : 0o644);
    }
  }
}

/** Another start may have published the same copy meanwhile: then that one is used. */
async function publish(partial: string, target: string): Promise<void> {
  if (!(await isUsable(target))) {
    await rm(target, { recursive: true, force: true });
  }
  try {
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (!(await isUsable(target))) {
      throw error;
    }
  }
}

async function removeAbandonedCopies(target: string): Promise<void> {
  const prefix = `${path.basename(target)}.partial-`;
  for (const name of await readdir(path.dirname(target))) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
    if (Number.isInteger(pid) && pid !== process.pid && !isAlive(pid)) {
      await rm(path.join(path.dirname(target), name), { recursive: true, force: true });
    }
  }
}
