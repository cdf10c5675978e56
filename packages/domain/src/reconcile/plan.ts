import type { ClusterSnapshot, ControlSettings } from "../cluster/snapshot.ts";
import type { Action } from "./action.ts";
import { openDraft } from "./draft.ts";
import { followDrains } from "./drains.ts";
import { fill, type ReplicaIds } from "./fill.ts";
import { endOverdueMoves, handOver, markLeaving, takeBackDraining } from "./leave.ts";
import { followLostNodes } from "./lost.ts";
import { followNodeCordons } from "./node-cordons.ts";
import { observeExits, observeLoadTimeouts } from "./observe.ts";
import { stopQuiet } from "./quiet.ts";
import { followRollouts, makeRoom } from "./rollout.ts";
import { dropSurplus } from "./scale.ts";
import { followServing } from "./serve.ts";

export interface PlanInput {
  readonly snapshot: ClusterSnapshot;
  readonly settings: ControlSettings;
  readonly ids: ReplicaIds;
}

/**
 * One pass of the control loop: what has to be done so that the cluster comes nearer to what was asked for. Pure and
 * deterministic: the same snapshot and ids give the same actions. It looks only at facts (what agents and routers said,
 * what operators ordered, what is stored), so it may run at any time, from any process, after any pause; run again
 * before anything of its plan was committed, it decides the same.
 *
 * The steps share a draft in this order: what ended; who is silent; who has to leave and who may stay; who serves; whose
 * time is up; what there is too much of; which moves are ready to hand over; what has to make room; what is missing and
 * where it goes; what is quiet and can stop; how far the drains and rollouts are; which nodes do not hold still.
 */
export function plan({ snapshot, settings, ids }: PlanInput): readonly Action[] {
  const draft = openDraft(snapshot, settings);
  observeExits(draft);
  observeLoadTimeouts(draft);
  followLostNodes(draft);
  markLeaving(draft);
  followServing(draft);
  takeBackDraining(draft);
  endOverdueMoves(draft);
  dropSurplus(draft);
  handOver(draft);
  makeRoom(draft);
  fill(draft, ids);
  stopQuiet(draft);
  followDrains(draft);
  followRollouts(draft);
  followNodeCordons(draft);
  return draft.actions;
}
