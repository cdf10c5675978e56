import { inspect } from "node:util";
import { ConfigError, HelpRequested } from "./config-error.ts";

/** Exit code for a program that was started wrongly, as most command-line tools use it. */
const EXIT_CONFIG = 2;

/** A stopped program must end even if something it used left a handle open. */
const LINGER_MS = 1_000;

/**
 * Wraps a program's main: its number becomes the exit code (0 without one). `--help` goes to standard output; a
 * `ConfigError` to standard error, problem by problem and without a stack, with code 2; any other error with its stack
 * and causes, with code 1.
 */
export async function runMain(main: () => Promise<number> | Promise<void>): Promise<void> {
  try {
    const code = await main();
    process.exitCode = code ?? 0;
  } catch (error) {
    process.exitCode = report(error);
  }
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

function report(error: unknown): number {
  if (error instanceof HelpRequested) {
    process.stdout.write(error.text);
    return 0;
  }
  if (error instanceof ConfigError) {
    for (const problem of error.problems) process.stderr.write(`error: ${problem}\n`);
    return EXIT_CONFIG;
  }
  process.stderr.write(`${inspect(error, { depth: 5 })}\n`);
  return 1;
}
