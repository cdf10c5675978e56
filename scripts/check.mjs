// `npm run check`: the quick part of `npm test` (gates and unit tests), for while you work.
import { gates, runGates } from "./gates.mjs";
import { runSuite } from "./suites.mjs";

const results = [await runGates(gates), await runSuite("unit")];
const passed = results.reduce((sum, result) => sum + result.passed, 0);
const failed = results.reduce((sum, result) => sum + result.failed, 0);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
