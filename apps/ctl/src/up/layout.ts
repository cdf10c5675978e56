import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The clone (or installed tree) that this program runs from. */
export const treeRoot = fileURLToPath(new URL("../../../..", import.meta.url));

/** The folder where `llmgw up` keeps everything: `.llmgw` in a clone, else the user's state folder. */
export function defaultDataDir(): string {
  return existsSync(join(treeRoot, "package-lock.json"))
    ? join(treeRoot, ".llmgw")
    : join(homedir(), ".local", "state", "llmgw");
}
