// Bundles each program into one file beside its sources, which starts in a third of the time. Packages stay outside.
import { mkdirSync, readdirSync, utimesSync } from "node:fs";
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

/** `@llmgw/service/testing` and the like keep to the package's own exports. */
const ownPackages = {
  name: "own packages",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, (args) => {
      if (args.path.startsWith("@llmgw/") || args.kind === "entry-point") return undefined;
      return { path: args.path, external: true };
    });
  },
};

async function bundle() {
  const { build } = await import("esbuild");
  await Promise.all(
    Object.entries(programs).map(([app, entries]) => {
      const outdir = join(root, "apps", app, "build");
      mkdirSync(outdir, { recursive: true });
      return build({
        entryPoints: entries.map((entry) => join(root, "apps", app, "src", entry)),
        outdir,
        outExtension: { ".js": ".mjs" },
        bundle: true,
        platform: "node",
        target: "node20",
        format: "esm",
        sourcemap: true,
        logLevel: "error",
        plugins: [ownPackages],
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
