import type { EngineAdapter } from "@llmgw/engines";
import { tailOf } from "../logs/log-file.ts";
import { redact } from "../logs/redact.ts";
import type { ExitFacts } from "./event.ts";

/** Lines that are looked at for the cause, and lines that are kept with the exit. */
const linesRead = 400;
const linesKept = 60;
/** A kept line; what decided is quoted in the cause. */
const keptChars = 500;

export interface EndedProcess {
  readonly logPath: string;
  readonly code: number | null;
  readonly signal: string | null;
  /** Null when nothing says which engine it was. */
  readonly adapter: EngineAdapter | null;
  readonly secrets: readonly string[];
}

/** Reads the end of an ended engine's log and says why it ended. No secret gets into the answer. */
export async function exitFacts({ logPath, code, signal, adapter, secrets }: EndedProcess): Promise<ExitFacts> {
  const { lines } = await tailOf(logPath, linesRead);
  const clean = lines.map((line) => redact(line, secrets));
  const verdict = adapter?.classifyExit({ code, signal, logTail: clean, asked: false }) ?? {
    category: "unknown" as const,
    cause: "Nothing is known of this process but that it has ended.",
    hint: null,
  };
  return { code, signal, ...verdict, tail: clean.slice(-linesKept).map((line) => line.slice(0, keptChars)) };
}

/** The facts of a process that never came to be. */
export function neverStarted(category: ExitFacts["category"], cause: string, hint: string | null): ExitFacts {
  return { code: null, signal: null, category, cause, hint, tail: [] };
}
