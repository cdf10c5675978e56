import type { EngineName } from "@llmgw/domain";
import type { EngineExit, ExitVerdict } from "../adapter.ts";
import { type FailureRule, failureRules } from "./rules.ts";

/** Lines of the log that are looked at, and how much of the decisive one is quoted. */
const linesRead = 400;
const quotedChars = 500;

/**
 * Why an engine ended: by its log if a known error stands there, else by its code or signal. An end that was asked for
 * is `stopped` whatever the log says: engines print frightening lines while they shut down.
 */
export function classifyExit(engine: EngineName, exit: EngineExit): ExitVerdict {
  if (exit.asked) return { category: "stopped", cause: "It was told to stop.", hint: null };
  const found = firstFailure(engine, exit.logTail.slice(-linesRead));
  if (found !== null) {
    const { rule, line } = found;
    return { category: rule.category, cause: `${rule.cause}: ${line.trim().slice(0, quotedChars)}`, hint: rule.hint };
  }
  return byStatus(exit);
}

function firstFailure(engine: EngineName, lines: readonly string[]): { rule: FailureRule; line: string } | null {
  for (const rule of failureRules) {
    if (rule.engines !== null && !rule.engines.includes(engine)) continue;
    const line = lines.find((candidate) => rule.pattern.test(candidate));
    if (line !== undefined) return { rule, line };
  }
  return null;
}

function byStatus({ code, signal, logTail }: EngineExit): ExitVerdict {
  const last = logTail
    .findLast((line) => line.trim() !== "")
    ?.trim()
    .slice(0, quotedChars);
  const said = last === undefined ? "its log is empty" : `its last line: ${last}`;
  if (signal === "SIGKILL" || code === 137) {
    return {
      category: "killed",
      cause: `It was killed by signal 9, not by this agent; ${said}`,
      hint: "Most often the kernel ran out of main memory: look for oom-kill in the kernel log and at the node's free memory.",
    };
  }
  if (signal === "SIGTERM" || signal === "SIGINT" || code === 143 || code === 130) {
    return {
      category: "killed",
      cause: `It was ended by ${signal ?? (code === 143 ? "SIGTERM" : "SIGINT")}, not by this agent; ${said}`,
      hint: "Somebody or something on the node stopped it.",
    };
  }
  if (signal !== null || (code !== null && code > 128)) {
    return {
      category: "crash",
      cause: `It crashed (${signal ?? `exit code ${code}`}); ${said}`,
      hint: "Open its log. If it repeats with this model on other nodes, suspect the engine's version.",
    };
  }
  if (code === 0) {
    return { category: "crash", cause: `It ended by itself with exit code 0; ${said}`, hint: null };
  }
  if (code === null) {
    return {
      category: "unknown",
      cause: `It ended while no agent was its parent, so its exit code is unknown; ${said}`,
      hint: null,
    };
  }
  return { category: "crash", cause: `It ended with exit code ${code}; ${said}`, hint: "Open its log." };
}
