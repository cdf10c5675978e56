import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export interface BuildInfo {
  /** Version in the product's root package.json; "unknown" where there is none. */
  readonly version: string;
  /** Full hash of the checked-out commit; "unknown" outside a git clone. */
  readonly commit: string;
}

const UNKNOWN = "unknown";

/**
 * Which build this is, from the nearest package.json above `from` that is the workspace's root (or, in a bundle, the
 * nearest one at all) and the git HEAD beside it. Never throws.
 */
export function buildInfo(from: string = import.meta.dirname): BuildInfo {
  let nearestVersion = UNKNOWN;
  for (const folder of foldersUp(from)) {
    const manifest = readManifest(join(folder, "package.json"));
    if (manifest === undefined) continue;
    if (nearestVersion === UNKNOWN) nearestVersion = manifest.version;
    if (manifest.isRoot) return { version: manifest.version, commit: readCommit(folder) };
  }
  return { version: nearestVersion, commit: UNKNOWN };
}

function foldersUp(from: string): string[] {
  const folders = [resolve(from)];
  for (let folder = resolve(from); dirname(folder) !== folder; ) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

function readManifest(path: string): { version: string; isRoot: boolean } | undefined {
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json !== "object" || json === null) return undefined;
    const version = "version" in json && typeof json.version === "string" ? json.version : UNKNOWN;
    return { version, isRoot: "workspaces" in json };
  } catch {
    return undefined; // a broken package.json says nothing about the version
  }
}

function readCommit(root: string): string {
  const gitPath = join(root, ".git");
  // In a linked worktree `.git` is a file that names its own git folder, and `commondir` there names the shared one.
  const pointer = readText(gitPath)?.match(/^gitdir: (.+)$/m)?.[1];
  const gitFolder = pointer === undefined ? gitPath : resolve(root, pointer);
  const commonFolder = resolve(gitFolder, readText(join(gitFolder, "commondir"))?.trim() ?? ".");
  const head = readText(join(gitFolder, "HEAD"))?.trim();
  const ref = head?.match(/^ref: (.+)$/)?.[1];
  if (ref === undefined) return head ?? UNKNOWN;
  const packed = readText(join(commonFolder, "packed-refs"))?.split("\n") ?? [];
  return (
    readText(join(commonFolder, ref))?.trim() ??
    packed.find((line) => line.endsWith(` ${ref}`))?.split(" ", 1)[0] ??
    UNKNOWN
  );
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // absent or unreadable: the build is then "unknown", which is an answer
  }
}
