// JavaScript, because bin/llmgw.mjs asks before anything can load TypeScript.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * The bundle of a program's entry (`apps/APP/build/ENTRY.mjs`) if it is newer than every source it could have been made
 * from; otherwise null, and the TypeScript sources have to run as they are. A bundle starts in a third of the time.
 */
export function freshBundle({ root, app, entry }) {
  const bundle = join(root, "apps", app, "build", entry.replace(/\.ts$/, ".mjs"));
  return existsSync(bundle) && statSync(bundle).mtimeMs >= newestSourceMs(root, app) ? bundle : null;
}

function newestSourceMs(root, app) {
  const packages = join(root, "packages");
  const folders = [join(root, "apps", app, "src"), ...readdirSync(packages).map((name) => join(packages, name, "src"))];
  return Math.max(...folders.filter((folder) => existsSync(folder)).map(newestMs));
}

/** The newest modification below a folder, ms. Tests are no part of a program. */
function newestMs(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || entry.name.includes(".test.")) continue;
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestMs(path) : statSync(path).mtimeMs);
  }
  return newest;
}
