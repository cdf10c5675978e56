import type { ReplicaView } from "@llmgw/api";
import type { StateWord } from "./states.tsx";

const words: Readonly<Record<ReplicaView["phase"], StateWord>> = {
  pending: { state: "pending", word: "Pending" },
  starting: { state: "starting", word: "Loading" },
  serving: { state: "serving", word: "Serving" },
  moving: { state: "moving", word: "Moving" },
  draining: { state: "draining", word: "Draining" },
  stopping: { state: "draining", word: "Stopping" },
  stopped: { state: "stopped", word: "Stopped" },
  failed: { state: "failed", word: "Failed" },
  lost: { state: "failed", word: "Lost" },
  orphan: { state: "unknown", word: "Orphan" },
};

/** The least advanced shard decides how far a replica has loaded; null when no engine says. */
function loadRatioOf(replica: ReplicaView): number | null {
  const known = replica.shards.map((shard) => shard.observed?.loadRatio ?? null).filter((ratio) => ratio !== null);
  return known.length === 0 ? null : Math.min(...known);
}

export function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}

/** The state of a phase name as the API gives it, also of one that this page does not know. */
export function phaseState(phase: string, loadRatio: number | null = null): StateWord {
  const known = Object.hasOwn(words, phase) ? words[phase as ReplicaView["phase"]] : null;
  if (known === null) return { state: "unknown", word: phase };
  return phase === "starting" && loadRatio !== null ? { ...known, word: `Loading ${percent(loadRatio)}` } : known;
}

export function replicaStateOf(replica: ReplicaView): StateWord {
  const state = phaseState(replica.phase, loadRatioOf(replica));
  return replica.phase === "draining" && replica.routing.inflight > 0
    ? { ...state, word: `Draining, ${replica.routing.inflight} in flight` }
    : state;
}

/** The edge colour of a replica's row: only for those that need a look. */
export function replicaAlert(replica: ReplicaView): StateWord["state"] | null {
  const { state } = replicaStateOf(replica);
  return state === "failed" || state === "unknown" || (replica.phase === "pending" && replica.reason !== null)
    ? state
    : null;
}

/** `GPU 0–3`, `GPU 1, 3`: indexes with neighbours joined. */
export function gpuRange(indexes: readonly (number | null)[]): string {
  const known = indexes.filter((index) => index !== null).sort((a, b) => a - b);
  if (known.length < indexes.length || known.length === 0)
    return `${indexes.length} GPU${indexes.length === 1 ? "" : "s"}`;
  const parts: string[] = [];
  let from = known[0] ?? 0;
  let to = from;
  for (const index of [...known.slice(1), Number.NaN]) {
    if (index === to + 1) {
      to = index;
      continue;
    }
    parts.push(from === to ? `${from}` : `${from}–${to}`);
    from = index;
    to = index;
  }
  return `GPU ${parts.join(", ")}`;
}
