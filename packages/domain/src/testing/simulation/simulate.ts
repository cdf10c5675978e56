import { happenings } from "./faults.ts";
import { unrest, watchInvariants } from "./invariants.ts";
import { type Random, seededRandom } from "./random.ts";
import { stepMs, Violation, World } from "./world.ts";

export interface SimulationOptions {
  readonly seed: number;
  /** Steps during which things happen; the run goes on until the cluster has come to rest. */
  readonly steps: number;
}

export type SimulationResult =
  | { readonly ok: true; readonly actions: number; readonly restMs: number; readonly log: readonly string[] }
  /** `log` is the run up to there, oldest first. */
  | { readonly ok: false; readonly why: string; readonly log: readonly string[] };

/** A cluster that has no reason to move comes to rest within this long: every drain, stop and back-off has run out. */
const restWithinMs = 400_000;

/**
 * One run: a random cluster, random faults and operators for `steps` steps of virtual time, then peace. Every promise is
 * checked at every commit, and at the end that the cluster is what was asked for. The same seed gives the same run.
 */
export function simulate({ seed, steps }: SimulationOptions): SimulationResult {
  const random = seededRandom(seed);
  const world = new World(random, watchInvariants());
  const due: { readonly atMs: number; readonly then: () => void }[] = [];
  const later = (afterMs: number, then: () => void): void => {
    due.push({ atMs: world.nowMs + afterMs, then });
  };
  const step = (): void => {
    for (const item of due.filter((candidate) => candidate.atMs <= world.nowMs)) {
      due.splice(due.indexOf(item), 1);
      item.then();
    }
    world.step();
  };
  // Some clusters are calm, some are not.
  const happeningChance = random.pick([0.03, 0.08, 0.2]);
  try {
    for (let count = 0; count < steps; count += 1) {
      if (random.chance(happeningChance)) pickHappening(random)(world, later);
      step();
    }
    const peaceAtMs = world.nowMs;
    world.say("PEACE");
    let left: string | null = "no look yet";
    let calm = 0;
    // At rest means: nothing to do at several looks in a row, with nothing left to mend.
    while (calm < 3) {
      if (world.nowMs - peaceAtMs > restWithinMs) throw new Violation(`no rest: ${left}`);
      for (let count = 0; count < 8; count += 1) step();
      left = due.length > 0 ? "faults are not mended" : unrest(world);
      calm = left === null ? calm + 1 : 0;
    }
    return { ok: true, actions: world.log.length, restMs: world.nowMs - peaceAtMs - calm * 8 * stepMs, log: world.log };
  } catch (error) {
    if (error instanceof Violation) return { ok: false, why: error.message, log: world.log };
    throw new Error(`the simulation with seed ${seed} failed`, { cause: error });
  }
}

function pickHappening(random: Random): (typeof happenings)[number][1] {
  let left = random.next() * happenings.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, happening] of happenings) {
    left -= weight;
    if (left < 0) return happening;
  }
  throw new Error("the weights of the happenings do not add up");
}
