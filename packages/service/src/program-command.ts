import { existsSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface ProgramFile {
  /** The clone (or installed tree) that holds `apps/` and `packages/`. */
  readonly root: string;
  /** The folder below `apps/`. */
  readonly app: string;
  /** The entry file's name in its `src` folder, such as `main.ts`. */
  readonly entry: string;
}

/**
 * The command that starts one of the product's programs, without its arguments. Its bundle (`apps/APP/build/ENTRY.mjs`) is
 * taken while it is newer than every source it could have been made from, since it starts in a third of the time;
 * otherwise the TypeScript sources run as they are.
 */
export function programCommand({ root, app, entry }: ProgramFile): readonly [string, ...string[]] {
  const source = join(root, "apps", app, "src", entry);
  const bundle = join(root, "apps", app, "build", entry.replace(/\.ts$/, ".mjs"));
  if (existsSync(bundle) && statSync(bundle).mtimeMs >= newestSourceMs(root, app)) {
    return [process.execPath, "--enable-source-maps", bundle];
  }
  const tsx = createRequire(join(root, "package.json")).resolve("tsx");
  return [process.execPath, "--enable-source-maps", "--import", pathToFileURL(tsx).href, source];
}

function newestSourceMs(root: string, app: string): number {
  const packages = join(root, "packages");
  const folders = [join(root, "apps", app, "src"), ...readdirSync(packages).map((name) => join(packages, name, "src"))];
  return Math.max(...folders.filter((folder) => existsSync(folder)).map(newestMs));
}

/** The newest modification below a folder, ms. Tests are no part of a program. */
function newestMs(folder: string): number {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || entry.name.includes(".test.")) continue;
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestMs(path) : statSync(path).mtimeMs);
  }
  return newest;
}
