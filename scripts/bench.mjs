// `npm run bench -- AREA [options]`: measures, prints a table, and writes it where the area says.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { requireNode, root, run } from "./lib.mjs";

requireNode();
const areas = readdirSync(join(root, "bench")).filter((name) => existsSync(join(root, "bench", name, "main.ts")));
const [area = "", ...args] = process.argv.slice(2);
if (!areas.includes(area)) {
  const problem = area === "" ? "" : `There is no bench "${area}".\n`;
  process.stderr.write(`${problem}npm run bench -- AREA [options], AREA being one of: ${areas.join(", ")}\n`);
  process.exit(2);
}
if (!existsSync(join(root, "node_modules"))) {
  process.stderr.write("Dependencies are not installed: run npm ci first.\n");
  process.exit(1);
}
const file = join(root, "bench", area, "main.ts");
const { code } = await run(process.execPath, ["--import", import.meta.resolve("tsx"), file, ...args]);
process.exitCode = code;
