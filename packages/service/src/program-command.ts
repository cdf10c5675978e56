import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { freshBundle } from "./fresh-bundle.mjs";

export interface ProgramFile {
  /** The clone (or installed tree) that holds `apps/` and `packages/`. */
  readonly root: string;
  /** The folder below `apps/`. */
  readonly app: string;
  /** The entry file's name in its `src` folder, such as `main.ts`. */
  readonly entry: string;
}

/**
 * The command that starts one of the product's programs, without its arguments: its bundle while that is fresh, otherwise
 * its sources. Bundles are readable as they are and have no source maps: Node reads a map whole at the start, and again
 * for the first stack trace, which costs more than the start itself.
 */
export function programCommand({ root, app, entry }: ProgramFile): readonly [string, ...string[]] {
  const bundle = freshBundle({ root, app, entry });
  if (bundle !== null) return [process.execPath, bundle];
  const tsx = createRequire(join(root, "package.json")).resolve("tsx");
  const source = join(root, "apps", app, "src", entry);
  return [process.execPath, "--enable-source-maps", "--import", pathToFileURL(tsx).href, source];
}
