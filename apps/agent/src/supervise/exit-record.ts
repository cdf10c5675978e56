import type { ShardExit } from "@llmgw/domain";
import type { ExitFacts } from "./event.ts";
import type { ShardState, StopCause } from "./shard-state.ts";

/** The end of a shard as it is reported: the facts of the process under the reason for which it was ended, if any. */
export function exitOf(shard: ShardState, facts: ExitFacts, nowMs: number): ShardExit {
  const { process } = shard;
  const ranMs = "process" in process ? Math.max(0, Math.round(nowMs - process.process.startedAtMs)) : 0;
  const cause = causeOf(process);
  const base: ShardExit = { ...facts, asked: false, ranMs };
  switch (cause?.kind) {
    case undefined:
      return base;
    case "asked":
      return { ...base, category: "stopped", cause: "It was told to stop.", hint: null, asked: true };
    case "ended":
      return { ...base, code: cause.code, signal: cause.signal };
    case "load_stalled":
      return {
        ...base,
        category: "load_stalled",
        cause: cause.cause,
        hint: "Look at its log. If the load is slow and not stuck, raise load.max or load.stall of the model.",
      };
    case "load_failed":
      return { ...base, category: "crash", cause: cause.cause, hint: "Look at its log for the first error." };
    case "serves_other":
      return {
        ...base,
        category: "bad_configuration",
        cause: cause.cause,
        hint: "Another program may hold its port, or an extra argument changes the served model's name.",
      };
  }
}

function causeOf(process: ShardState["process"]): StopCause | null {
  if (process.kind === "stopping" || process.kind === "stuck") return process.cause;
  return process.kind === "spawning" && process.stop !== null ? { kind: "asked" } : null;
}
