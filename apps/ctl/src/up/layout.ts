import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The clone (or installed tree) that this program runs from: the folder above `apps`, from a source as from the bundle. */
export const treeRoot = above("apps", fileURLToPath(import.meta.url));

/** Whether this program runs from a clone of the repository. */
export function isClone(): boolean {
  return existsSync(join(treeRoot, "package-lock.json"));
}

/** The folder where `llmgw up` keeps everything: `.llmgw` in a clone, else the user's state folder. */
export function defaultDataDir(): string {
  return isClone() ? join(treeRoot, ".llmgw") : join(homedir(), ".local", "state", "llmgw");
}

function above(name: string, path: string): string {
  const parent = dirname(path);
  if (parent === path)
    throw new Error(`llmgw's programs run from a tree with a folder "${name}"; ${import.meta.url} is in none`);
  return path.endsWith(`/${name}`) ? parent : above(name, parent);
}
