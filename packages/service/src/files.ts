import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";

/**
 * Replaces a file so that a reader, or a machine that loses power, finds the old content or the new, never a part:
 * a temporary file in the same folder, fsync, rename, fsync of the folder. `mode` is the new file's, 0600 unless given.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600 }: { mode?: number } = {},
): Promise<void> {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.chmod(mode); // open() lets the umask take bits away
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new Error(`cannot write ${path}`, { cause: error });
  }
  await syncFolder(dirname(path));
}

export type JsonFile<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "absent" }
  | { readonly kind: "invalid"; readonly problem: string };

/** Reads a JSON file through a schema. An unreadable file (permissions, a folder) throws; bad content is `invalid`. */
export async function readJsonFile<S extends z.ZodType>(path: string, schema: S): Promise<JsonFile<z.output<S>>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { kind: "absent" };
    throw new Error(`cannot read ${path}`, { cause: error });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { kind: "invalid", problem: `${path} is not JSON: ${error instanceof Error ? error.message : error}` };
  }
  const result = schema.safeParse(json);
  if (result.success) return { kind: "ok", value: result.data };
  return { kind: "invalid", problem: `${path} is not as expected: ${z.prettifyError(result.error)}` };
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
