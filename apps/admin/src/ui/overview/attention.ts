import type { ClusterView, DrainView, ModelView, NodeView, ReplicaView, RouterView } from "@llmgw/api";
import { counted, duration } from "../data/format.ts";
import { paths } from "../parts/page.tsx";
import { isBlocked, movedCount } from "../state/drain-state.ts";
import { exclusionOf, gpuCordonOf, gpuName, gpuStateOf, sentence } from "../state/gpu-state.ts";
import type { StateName } from "../state/states.tsx";

/** One thing that needs a look: what it is, why, and the one next step. */
export interface Attention {
  readonly key: string;
  readonly state: StateName;
  readonly subject: string;
  readonly words: string;
  readonly why: string;
  readonly href: string;
  readonly step: string;
}

/** What the overview has read; a part that could not be read yet is empty. */
export interface OverviewFacts {
  readonly cluster: ClusterView;
  readonly nodes: readonly NodeView[];
  readonly models: readonly ModelView[];
  readonly replicas: readonly ReplicaView[];
  readonly drains: readonly DrainView[];
  readonly routers: readonly RouterView[];
  readonly nowMs: number;
}

/** Worst first: what does not answer, what is lost, what is stuck, what is out, what is under way. */
export function attentionOf(facts: OverviewFacts): readonly Attention[] {
  return [
    ...leaderless(facts),
    ...downModels(facts, true),
    ...silentNodes(facts),
    ...blockedMoves(facts),
    ...downModels(facts, false),
    ...failedReplicas(facts),
    ...excludedGpus(facts),
    ...silentRouters(facts),
    ...orphans(facts),
    ...openDrains(facts),
  ];
}

function leaderless({ cluster }: OverviewFacts): Attention[] {
  if (cluster.leader !== null) return [];
  return [
    {
      key: "leader",
      state: "failed",
      subject: "No admin",
      words: "runs the control loop",
      why: "Nothing is placed, moved or restarted until one takes the lease. What serves keeps serving.",
      href: "/audit",
      step: "Audit",
    },
  ];
}

function downModels({ models }: OverviewFacts, isDown: boolean): Attention[] {
  return models
    .filter((model) => model.deletedAt === null && model.serving < model.desired)
    .filter((model) => (model.serving + model.moving === 0) === isDown)
    .map((model) => ({
      key: `model ${model.id}`,
      state: isDown ? "failed" : "degraded",
      subject: model.id,
      words: isDown ? `is down, 0 of ${model.desired} serving` : servesWith(model),
      why: model.reason === null ? "Its replicas are on their way." : `${sentence(model.reason)}.`,
      href: paths.model(model.id),
      step: "See why",
    }));
}

function servesWith({ serving, desired, moving }: ModelView): string {
  return `serves with ${serving} of ${desired}${moving === 0 ? "" : `, ${moving} on the move`}`;
}

function silentNodes({ nodes, nowMs }: OverviewFacts): Attention[] {
  return nodes
    .filter((node) => node.liveness !== "live")
    .map((node) => ({
      key: `node ${node.id}`,
      state: node.liveness === "lost" ? "failed" : "stale",
      subject: node.name,
      words: node.liveness === "lost" ? "is lost" : "is silent",
      why:
        node.lastSeenAt === null
          ? "It has never reported."
          : `Last heard ${duration(nowMs - Date.parse(node.lastSeenAt))} ago.`,
      href: paths.node(node.name),
      step: "Node",
    }));
}

function blockedMoves({ drains, nowMs }: OverviewFacts): Attention[] {
  return drains.flatMap((drain) =>
    drain.moves
      .filter((move) => isBlocked(move) && move.step !== "stopped")
      .map((move) => ({
        key: `move ${move.replicaId}`,
        state: "blocked" as const,
        subject: move.replicaId,
        words: `cannot leave ${drain.nodeName}`,
        why: `${move.reason === null ? "" : `${sentence(move.reason)}. `}The grace ends in ${duration(Date.parse(drain.deadlineAt) - nowMs)}.`,
        href: paths.drain(drain.id),
        step: "Drain",
      })),
  );
}

function failedReplicas({ replicas }: OverviewFacts): Attention[] {
  return replicas
    .filter((replica) => replica.phase === "failed" || replica.phase === "lost")
    .map((replica) => ({
      key: `replica ${replica.id}`,
      state: "failed",
      subject: replica.id,
      words: replica.phase === "failed" ? "failed" : "is lost",
      why: replica.reason === null ? "No reason was reported." : `${sentence(replica.reason)}.`,
      href: paths.replica(replica.id),
      step: "Log",
    }));
}

function excludedGpus({ nodes }: OverviewFacts): Attention[] {
  return nodes.flatMap((node) => [
    ...(node.gpuProbeError === null
      ? []
      : [
          {
            key: `probe ${node.id}`,
            state: "unhealthy" as const,
            subject: node.name,
            words: "cannot read its GPUs",
            why: node.gpuProbeError,
            href: paths.node(node.name),
            step: "Evidence",
          },
        ]),
    ...node.gpus
      .filter((gpu) => !gpu.schedulable)
      .map((gpu) => ({
        key: `gpu ${gpu.uuid}`,
        state: gpuStateOf(node, gpu).state,
        subject: `${node.name} ${gpuName(gpu)}`,
        words: gpuCordonOf(node, gpu) !== null && gpu.health.status === "healthy" ? "is cordoned" : "is excluded",
        why: `${exclusionOf(gpu) ?? ""}.${gpu.health.clears === null ? "" : ` Clears: ${gpu.health.clears}.`}`,
        href: paths.node(node.name),
        step: "Evidence",
      })),
  ]);
}

function silentRouters({ routers }: OverviewFacts): Attention[] {
  return routers
    .filter((router) => router.state === "silent")
    .map((router) => ({
      key: `router ${router.id}`,
      state: "stale",
      subject: router.name,
      words: "is silent",
      why: "It may still send requests, so drains wait for the engines' own counts.",
      href: "/routers",
      step: "Routers",
    }));
}

function orphans({ nodes }: OverviewFacts): Attention[] {
  return nodes
    .filter((node) => node.orphans.length > 0)
    .map((node) => ({
      key: `orphans ${node.id}`,
      state: "unknown",
      subject: node.name,
      words: `runs ${counted(node.orphans.length, "engine")} that nobody asked for`,
      why: "The database does not know them. They run on until an operator decides.",
      href: paths.node(node.name),
      step: "Node",
    }));
}

function openDrains({ drains, nowMs }: OverviewFacts): Attention[] {
  return drains
    .filter((drain) => drain.endedAt === null)
    .map((drain) => ({
      key: `drain ${drain.id}`,
      state: "draining",
      subject: drain.nodeName,
      words: `is draining, ${movedCount(drain)} of ${drain.moves.length} moved`,
      why: `Started by ${drain.by} ${duration(nowMs - Date.parse(drain.startedAt))} ago${drain.reason === "" ? "" : `: ${drain.reason}`}.`,
      href: paths.drain(drain.id),
      step: "Progress",
    }));
}
