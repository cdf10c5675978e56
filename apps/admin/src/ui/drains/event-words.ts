import type { AuditView } from "@llmgw/api";
import { moveSteps } from "@llmgw/domain";
import { stepWords } from "../state/drain-state.ts";

type Row = Pick<AuditView, "verb" | "target" | "outcome" | "reason"> & { readonly after?: unknown };

/** A row of a drain's history without who did it: what, to which step, how it came out, why. */
export function eventWords({ verb, target, outcome, reason, after }: Row): string {
  const step = verb === "drain.step" ? stepTaken(after) : null;
  const words = [`${verb} ${target}`, step === null ? "" : ` to ${step}`, outcome === "ok" ? "" : `, ${outcome}`];
  return `${words.join("")}${reason === null ? "" : `: ${reason}`}`;
}

function stepTaken(after: unknown): string | null {
  if (typeof after !== "object" || after === null || !("step" in after)) return null;
  const step = moveSteps.find((each) => each === after.step);
  if (step === undefined) return null;
  return (step === "stopping" ? "Stopping" : stepWords[step]).toLowerCase();
}
