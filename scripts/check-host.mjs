// `npm run check:host -- NAME`: long checks, or ones that need something of this machine. Exit code 3: it is not here.
import { join } from "node:path";
import { root, run } from "./lib.mjs";
import { prepare } from "./prepare.mjs";

const checks = {
  "drain-chaos": {
    about: "[runs] [seed]: the drain under load with kill -9 of a random program, 20 times in a row",
    file: "e2e/drain-chaos-main.ts",
  },
  "router-soak": {
    about: "[minutes] [clients]: clients of all manners against a router whose engines come, go and fail, 30 minutes",
    file: "e2e/router-soak-main.ts",
  },
  "router-bytes": {
    about:
      "[count] [seed]: generated requests and streams through the router, the same bytes at both ends, 10,000 of them",
    file: "apps/router/src/testing/byte-fuzz-main.ts",
  },
};

const [name, ...args] = process.argv.slice(2);
const check = Object.hasOwn(checks, name ?? "") ? checks[name] : undefined;
if (check === undefined) {
  const known = Object.entries(checks).map(([key, { about }]) => `  ${key} ${about}`);
  process.stderr.write(
    `${name === undefined ? "" : `There is no check "${name}".\n`}npm run check:host -- NAME, NAME being one of:\n${known.join("\n")}\n`,
  );
  process.exit(2);
}
await prepare();
const { code } = await run(process.execPath, ["--import", import.meta.resolve("tsx"), join(root, check.file), ...args]);
process.exitCode = code;
