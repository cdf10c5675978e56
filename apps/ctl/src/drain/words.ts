import type { DrainPreview, DrainView, MoveView } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";
import { formatDuration } from "@llmgw/service";
import { plural } from "../ctl/program-name.ts";

const stepWords: Record<MoveView["step"], string> = {
  queued: "queued",
  placing: "waits for a place",
  loading: "replacement loading",
  replacementServing: "replacement serving",
  draining: "draining",
  stopping: "stopping",
  stopped: "stopped",
};

/** What a drain will do, before anything is touched. */
export function describePreview(preview: DrainPreview): string {
  const names = preview.nodes.map((node) => node.name).join(", ");
  const count = (outcome: string) => preview.moves.filter((move) => move.outcome === outcome).length;
  const lines = [
    `Drain ${names}: ${count("moves")} move, ${count("waits")} wait, ${count("cannot_move")} cannot move, ${count("stops_at_once")} serve nothing; ${plural(preview.inflight, "request")} in flight; grace ${formatDuration(preview.graceMs)}`,
  ];
  for (const move of preview.moves) {
    const to = move.target === null ? "" : ` to ${move.target}`;
    const gap = move.gapFrom === null ? "" : ` with a gap from ${move.gapFrom}`;
    const why = `${gap}${move.reason === null ? "" : `: ${describeReason(move.reason)}`}`;
    lines.push(`  ${move.replicaId} on ${move.nodeName} ${move.outcome.replaceAll("_", " ")}${to}${why}`);
  }
  for (const model of preview.models) {
    lines.push(
      `  ${model.modelId}: ${model.servingBefore} serve now, never fewer than ${model.servingLowest} during it, ${model.servingAfter} after`,
    );
  }
  for (const { modelId, moves, surge, maxSurge } of preview.models) {
    if (surge > maxSurge && moves > 1) {
      lines.push(
        `  ${modelId}: ${surge} move at a time, ${maxSurge} with a grace of ${formatDuration(preview.sufficientGraceMs)}`,
      );
    }
  }
  if (preview.neededMs > preview.graceMs) {
    lines.push(
      `  the moves may take ${formatDuration(preview.neededMs)}: a grace of ${formatDuration(preview.sufficientGraceMs)} would do`,
    );
  }
  return lines.join("\n");
}

/** Models that a drain would leave with nothing that serves. */
export function modelsLost(preview: DrainPreview): string[] {
  return preview.models
    .filter((model) => model.servingBefore > 0 && model.servingLowest === 0)
    .map((model) => model.modelId);
}

/** What a move is at, without what changes by the second: where this changes, there is news. */
export function stepOf(move: MoveView): string {
  const why = move.reason === null || move.reason.code === "proving_replacement" ? null : move.reason.code;
  return [move.replicaId, move.target, move.step, why].join(" ");
}

/** One line for each move as it stands. */
export function describeMove(move: MoveView): string {
  const load = move.step === "loading" && move.loadRatio !== null ? ` ${Math.round(move.loadRatio * 100)} %` : "";
  const inflight = move.step === "draining" ? `, ${move.inflight} in flight` : "";
  const target = move.target === null ? "" : ` → ${move.target}`;
  const why = move.reason === null ? "" : ` (${whyOf(move.reason)})`;
  return `${move.replicaId}${target}: ${stepWords[move.step]}${load}${inflight}${why}`;
}

/** The reason in words; of the proof also what it is for. */
function whyOf(reason: NonNullable<MoveView["reason"]>): string {
  const words = describeReason(reason);
  return reason.code === "proving_replacement" ? `${words}; the original stops taking requests after that` : words;
}

export function describeDrain(drain: DrainView): string {
  const head = `drain ${drain.id} of ${drain.nodeName}, started by ${drain.by} at ${drain.startedAt}: ${drain.reason || "no reason given"}`;
  const end =
    drain.endedAt === null
      ? `grace ends ${drain.deadlineAt}${drain.waitingFor === null ? "" : `; ${describeReason(drain.waitingFor)}`}`
      : `ended ${drain.endedAt}: ${drain.result}`;
  const losses = drain.losses.map((loss) => `  lost: ${loss.replicaId}: ${describeReason(loss.reason)}`);
  return [head, end, ...drain.moves.map((move) => `  ${describeMove(move)}`), ...losses].join("\n");
}
