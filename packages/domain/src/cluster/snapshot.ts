import type { Drain, Move } from "./drain.ts";
import type { Model } from "./model.ts";
import type { Node } from "./node.ts";
import type { Replica } from "./replica.ts";
import type { Router } from "./router.ts";

/** Durations of the control loop, ms. Tests scale all of them by one factor. */
export interface ControlSettings {
  readonly suspectAfterMs: number;
  readonly lostAfterMs: number;
  readonly routerLeaseMs: number;
  /** A router whose lease ran out less than this ago may still be sending. */
  readonly routerMayStillSendMs: number;
  /** A router seen within this time counts as live right after an admin took the loop. */
  readonly routerRememberedMs: number;
  /** A replacement must have served this long before its original turns draining. */
  readonly provenMs: number;
  /** The engine's own count, unreadable or above 0, stops blocking this long after all routers said 0. */
  readonly engineDisagreesMs: number;
  readonly defaultGraceMs: number;
  /** Crash back-off: first step, and its cap. */
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  /** A replica keeps its GPUs reserved through a back-off that is not longer than this. */
  readonly backoffReservesMs: number;
  /** This many failed starts within the window re-place the replica elsewhere. */
  readonly replaceAfterFailures: number;
  readonly failureWindowMs: number;
  /** Failures are forgotten after serving this long. */
  readonly failuresForgottenMs: number;
  /** This share of the nodes silent within one window, and at least so many: the silence is taken for ours. */
  readonly massSilenceRatio: number;
  readonly massSilenceMinNodes: number;
  readonly massSilenceWindowMs: number;
  /** A node that returned this often within the window flaps, until it has been heard for `flapStableMs` on end. */
  readonly flapReturns: number;
  readonly flapWindowMs: number;
  readonly flapStableMs: number;
  /** So many failed starts of so many models within `failureWindowMs` cordon a node for `blackHoleCordonMs`. */
  readonly blackHoleStarts: number;
  readonly blackHoleModels: number;
  readonly blackHoleCordonMs: number;
  /** A rollout is paused after so many failed starts, or when a new replica is not reached for this long. */
  readonly rolloutFailures: number;
  readonly rolloutStallMs: number;
  /** A drain whose time is up ends as failed when a process has survived its stop for this long. */
  readonly stuckAfterMs: number;
  /** MiB of each GPU that placement leaves alone. */
  readonly reserveMibPerGpu: number;
}

/** The defaults of design: suspect 15 s, lost 60 s, router lease 30 s, proven 10 s, grace 1 h. */
export const defaultControlSettings: ControlSettings = {
  suspectAfterMs: 15_000,
  lostAfterMs: 60_000,
  routerLeaseMs: 30_000,
  routerMayStillSendMs: 15 * 60_000,
  routerRememberedMs: 24 * 3_600_000,
  provenMs: 10_000,
  engineDisagreesMs: 120_000,
  defaultGraceMs: 3_600_000,
  backoffBaseMs: 10_000,
  backoffMaxMs: 300_000,
  backoffReservesMs: 60_000,
  replaceAfterFailures: 3,
  failureWindowMs: 5 * 60_000,
  failuresForgottenMs: 10 * 60_000,
  massSilenceRatio: 0.55,
  massSilenceMinNodes: 3,
  massSilenceWindowMs: 60_000,
  flapReturns: 3,
  flapWindowMs: 10 * 60_000,
  flapStableMs: 60_000,
  blackHoleStarts: 3,
  blackHoleModels: 2,
  blackHoleCordonMs: 10 * 60_000,
  rolloutFailures: 3,
  rolloutStallMs: 10 * 60_000,
  stuckAfterMs: 5 * 60_000,
  reserveMibPerGpu: 512,
};

/** Everything a decision may look at, read at one instant from one transaction. */
export interface ClusterSnapshot {
  readonly version: number;
  /** The database clock when it was read. */
  readonly nowMs: number;
  /** When this admin took the control loop: nobody is given up on before a full timeout since then. */
  readonly controlSinceMs: number;
  readonly nodes: readonly Node[];
  readonly models: readonly Model[];
  /** All replicas that are not stopped, and stopped ones that an open drain or a move still names. */
  readonly replicas: readonly Replica[];
  /** Open drains, and of each node and GPU the latest ended one. */
  readonly drains: readonly Drain[];
  readonly moves: readonly Move[];
  readonly routers: readonly Router[];
}
