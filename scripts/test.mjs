// `npm test`: the gates, then unit, integration and end-to-end tests. Ends with one line `N passed, N failed`.
import { builtGates, gates, runGates } from "./gates.mjs";
import { prepare } from "./prepare.mjs";
import { runSuite } from "./suites.mjs";

await prepare();
const results = [];
results.push(await runGates([...gates, ...builtGates]));
for (const project of ["unit", "integration", "e2e"]) results.push(await runSuite(project));
const passed = results.reduce((sum, result) => sum + result.passed, 0);
const failed = results.reduce((sum, result) => sum + result.failed, 0);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
