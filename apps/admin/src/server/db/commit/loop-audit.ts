import type { Action } from "@llmgw/domain";
import type { AuditEntry } from "../audit.ts";

/** An audit row of the control loop itself. `cause` is the drain that led to it. */
export function loopAudit(entry: {
  readonly verb: string;
  readonly target: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly cause: string | null;
}): AuditEntry {
  return {
    actorKind: "system",
    actor: "control loop",
    role: null,
    source: null,
    reason: null,
    outcome: "ok",
    requestId: null,
    ...entry,
  };
}

/** The actions of these kinds. */
export type ActionOf<K extends Action["kind"]> = Extract<Action, { readonly kind: K }>;
