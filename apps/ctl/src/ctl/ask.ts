import { createInterface } from "node:readline/promises";
import { CtlError, exit } from "./exit.ts";

export interface Question {
  readonly question: string;
  /** What has to be typed to go on; null: y or yes. */
  readonly typed: string | null;
  /** What to do where there is no terminal. */
  readonly otherwise: string;
}

/** Asks on the terminal and ends the command unless the answer is to go on. */
export async function ask({ question, typed, otherwise }: Question): Promise<void> {
  if (!process.stdin.isTTY) throw new CtlError(`no terminal to ask on: ${otherwise}`, exit.usage);
  const asker = createInterface({ input: process.stdin, output: process.stderr });
  const answer = (await asker.question(question)).trim();
  asker.close();
  const isYes = typed === null ? /^y(es)?$/i.test(answer) : answer === typed;
  if (!isYes) throw new CtlError("nothing was changed", exit.refused);
}
