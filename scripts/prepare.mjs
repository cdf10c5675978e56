// Brings a clone into the state that `npm start` and `npm test` need: dependencies, generated client, built dashboard.
import { join } from "node:path";
import { bundlePrograms } from "./bundle.mjs";
import { generateClient } from "./generate.mjs";
import { bin, fail, requireNode, root, run, unlessFresh } from "./lib.mjs";

const quietTools = { NEXT_TELEMETRY_DISABLED: "1", TURBO_TELEMETRY_DISABLED: "1", CHECKPOINT_DISABLE: "1" };

/** Installs what the lock names, unless that is what is installed. */
async function install() {
  await unlessFresh({
    name: "Installing dependencies",
    inputs: ["package-lock.json"],
    stamp: "node_modules/.llmgw-installed",
    work: async () => {
      const done = await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { env: quietTools });
      if (done.code !== 0) fail("npm ci", done);
    },
  });
}

/** Builds the dashboard when its sources changed. */
async function build() {
  await unlessFresh({
    name: "Building the dashboard (about a minute the first time)",
    inputs: [
      "apps/admin/src/app",
      "apps/admin/src/ui",
      "apps/admin/next.config.ts",
      "apps/admin/postcss.config.mjs",
      "packages/api/src",
      "packages/domain/src",
      "packages/wire/src",
      "package-lock.json",
    ],
    stamp: "apps/admin/.next/llmgw-built",
    work: async () => {
      const [node, next] = bin("next", "dist/bin/next");
      const done = await run(node, [next, "build"], { cwd: join(root, "apps/admin"), env: quietTools, quiet: true });
      if (done.code !== 0) fail("next build", done);
    },
  });
}

export async function prepare() {
  requireNode();
  await install();
  await generateClient();
  await bundlePrograms();
  await build();
}
