// Runs vitest projects and counts what they ran.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bin, root, run } from "./lib.mjs";

/** Runs one vitest project; resolves to its counts. A run that tested nothing counts as a failure. */
export async function runSuite(project, args = []) {
  const results = join(root, "test-results");
  mkdirSync(results, { recursive: true });
  const report = join(results, `${project}.json`);
  rmSync(report, { force: true });
  const [node, vitest] = bin("vitest", "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const { code } = await run(node, [vitest, "run", "--project", project, ...reporters, ...args]);
  try {
    const { numPassedTests, numFailedTests, numTotalTests } = JSON.parse(readFileSync(report, "utf8"));
    const broken = code !== 0 && numFailedTests === 0 ? 1 : 0; // a file that does not load, an unhandled error
    return { passed: numPassedTests, failed: numFailedTests + broken + (numTotalTests === 0 ? 1 : 0) };
  } catch (error) {
    process.stdout.write(`${project}: no report (${error.message})\n`);
    return { passed: 0, failed: 1 };
  }
}
