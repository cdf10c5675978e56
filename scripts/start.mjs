// `npm start`: prepares the clone, then runs `llmgw up` with the arguments after `--`.
import { join } from "node:path";
import { root, run } from "./lib.mjs";
import { prepare } from "./prepare.mjs";

await prepare();
const { code } = await run(process.execPath, [join(root, "apps/ctl/bin/llmgw.mjs"), "up", ...process.argv.slice(2)]);
process.exitCode = code;
