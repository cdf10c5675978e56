import type { Actor } from "@llmgw/api/server";
import type { AuditEntry } from "../../db/audit.ts";

/** An audit row of what somebody asked for. */
export function actorAudit(
  actor: Actor,
  entry: {
    readonly verb: string;
    readonly target: string;
    readonly before?: unknown;
    readonly after?: unknown;
    readonly reason?: string | null | undefined;
    readonly outcome?: AuditEntry["outcome"];
    readonly cause?: string | null;
  },
): AuditEntry {
  return {
    actorKind: actor.kind,
    actor: actor.name,
    role: actor.permission,
    source: actor.sourceAddress,
    verb: entry.verb,
    target: entry.target,
    before: entry.before,
    after: entry.after,
    reason: entry.reason ?? null,
    outcome: entry.outcome ?? "ok",
    requestId: actor.requestId,
    cause: entry.cause ?? null,
  };
}
