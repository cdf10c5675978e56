import type { AgentReport, AgentSyncAnswer } from "@llmgw/wire";
import { logPath, previousLog, tailOf } from "../logs/log-file.ts";
import { redact } from "../logs/redact.ts";
import { type SuperviseContext, secretsOf } from "../supervise/context.ts";
import { type AgentState, shardId } from "../supervise/shard-state.ts";

export type LogRequest = Extract<AgentSyncAnswer, { kind: "desired" }>["logs"][number];
type LogAnswer = AgentReport["logs"][number];

/** More than any screen shows; a larger wish gets this many and `truncated`. */
const maxLines = 5_000;

/** Answers a wish for log lines from the engine's log file, clean and without secrets. No log: no lines. */
export async function answerLogs(context: SuperviseContext, state: AgentState, wish: LogRequest): Promise<LogAnswer> {
  const path = wish.previous ? await previousLog(context.logsDir, wish) : logPath(context.logsDir, wish);
  if (path === null) return { requestId: wish.requestId, lines: [], truncated: false };
  const { lines, truncated } = await tailOf(path, Math.min(wish.lines, maxLines));
  const secrets = secretsOf(context, state.shards.get(shardId(wish))?.launch ?? null);
  return { requestId: wish.requestId, lines: lines.map((line) => redact(line, secrets)), truncated };
}
