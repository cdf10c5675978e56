import type { LogsInput, ReplicasInput } from "@llmgw/api";
import { type ControlPlane, done, type Outcome, refused } from "@llmgw/api/server";
import type { Replica, Shard } from "@llmgw/domain";
import { readFailures, readPlacementRecord, readReplicaById, readStoppedReplicas } from "../../db/world.ts";
import { livenessOf, observationOf, type ViewContext } from "../views/context.ts";
import { replicaView } from "../views/replica-view.ts";
import { changeAvailability } from "./availability.ts";
import { look, type UseCaseDependencies, unknown } from "./dependencies.ts";
import { replicaTarget } from "./drain-targets.ts";
import { findModel, findNode } from "./find.ts";

/** Stopped replicas are shown this many at most: the latest. */
const STOPPED_SHOWN = 200;

export function replicaUseCases(dependencies: UseCaseDependencies): ControlPlane["replicas"] {
  const { database } = dependencies;
  return {
    list: async (input) => {
      const context = await look(dependencies);
      const running = context.world.snapshot.replicas.filter((one) => one.phase !== "stopped");
      const stopped = input.includeStopped ? await readStoppedReplicas(database, STOPPED_SHOWN) : [];
      const wanted = select([...running, ...stopped], input, context);
      const ids = wanted.map((one) => one.id);
      const failures = stopped.length === 0 ? context.world.failures : await readFailures(database, ids);
      return wanted.map((replica) => replicaView(replica, context, failures));
    },
    get: async (id) => {
      const context = await look(dependencies);
      const replica = await findReplica(dependencies, context, id);
      if (!replica.ok) return replica;
      return done({
        replica: replicaView(replica.value, context, await readFailures(database, [id])),
        record: await readPlacementRecord(database, id),
      });
    },
    drain: async ({ replica, reason, graceMs, force, plan }, actor) => {
      const found = replicaTarget(await look(dependencies), replica);
      if (!found.ok) return found;
      const wish = { verb: "replicas.drain", targets: [found.value], target: "draining" } as const;
      const changed = await changeAvailability(dependencies, { ...wish, reason, graceMs, force, plan }, actor);
      if (!changed.ok) return changed;
      const [first] = changed.value;
      if (first === undefined) throw new Error("an order of one replica changed none");
      return done(first);
    },
    logs: (input, signal) => readLogs(dependencies, input, signal),
  };
}

/** A filter that names nothing known selects nothing: a list is not a place for errors. */
function select(replicas: readonly Replica[], input: ReplicasInput, context: ViewContext): Replica[] {
  const model = input.model === undefined ? null : findModel(context, input.model);
  const node = input.node === undefined ? null : findNode(context, input.node);
  const modelId = model === null ? null : model.ok ? model.value.id : input.model;
  const nodeId = node === null ? null : node.ok ? node.value.id : input.node;
  return replicas.filter(
    (replica) =>
      (modelId === null || replica.modelId === modelId) &&
      (nodeId === null || replica.shards.some((shard) => shard.nodeId === nodeId && shard.releasedAtMs === null)),
  );
}

async function findReplica(
  { database }: UseCaseDependencies,
  context: ViewContext,
  id: string,
): Promise<Outcome<Replica>> {
  const { replicas } = context.world.snapshot;
  const replica = replicas.find((one) => one.id === id) ?? (await readReplicaById(database, id));
  if (replica !== null) return done(replica);
  return unknown(
    "replica",
    id,
    replicas.map((one) => one.id),
  );
}

type Logs = Outcome<{ lines: string[]; truncated: boolean }>;

/** A running shard's agent is asked; what an ended one left behind is in the database. */
async function readLogs(dependencies: UseCaseDependencies, input: LogsInput, signal: AbortSignal): Promise<Logs> {
  const context = await look(dependencies);
  const found = await findReplica(dependencies, context, input.replica);
  if (!found.ok) return found;
  const replica = found.value;
  const shard = replica.shards.find((one) => one.generation === replica.generation && one.rank === input.rank);
  if (shard === undefined) {
    const kept = await keptTail(dependencies, input);
    if (kept !== null) return kept;
    const message = `${replica.id} has no shard ${input.rank} that runs or ran (it is ${replica.phase}).`;
    return refused({ kind: "not_found", message });
  }
  const answer = canAnswer(shard, context) ? await ask(dependencies, { input, shard, signal }) : null;
  if (answer !== null && (answer.lines.length > 0 || !input.previous)) {
    return done({ lines: answer.lines, truncated: answer.truncated });
  }
  const kept = await keptTail(dependencies, input);
  if (kept !== null) return kept;
  if (answer !== null) return refused({ kind: "not_found", message: noPreviousRun(input) });
  const name = context.nodes.get(shard.nodeId)?.name ?? shard.nodeId;
  const message = `The agent of ${name} did not answer with log lines of ${replica.id}/${input.rank}, and no failure of it is kept. Try again, or look at the log on that machine.`;
  return refused({ kind: "unavailable", message });
}

function canAnswer(shard: Shard, context: ViewContext): boolean {
  const node = context.nodes.get(shard.nodeId);
  const seen = observationOf(context, shard);
  return node !== undefined && livenessOf(node, context) === "live" && seen !== null && seen.phase !== "exited";
}

function ask(
  { logs, settings }: UseCaseDependencies,
  { input, shard, signal }: { input: LogsInput; shard: Shard; signal: AbortSignal },
) {
  const { replicaId, generation, rank, nodeId } = shard;
  const wanted = { replicaId, generation, rank, lines: input.lines, previous: input.previous };
  return logs.ask(nodeId, wanted, { timeoutMs: settings.logsTimeoutMs, signal });
}

/** The tail of the shard's latest failure, or with `previous` of an earlier one. */
async function keptTail({ database }: UseCaseDependencies, input: LogsInput): Promise<Logs | null> {
  const failures = (await readFailures(database, [input.replica])).filter((one) => one.rank === input.rank);
  const latest = failures.find((one) => one.which === "latest") ?? failures.at(-1);
  const earlier = failures.find((one) => latest !== undefined && one.generation < latest.generation);
  const failure = input.previous ? earlier : latest;
  if (failure === undefined) {
    const isNone = input.previous && latest !== undefined && latest.generation <= 1;
    return isNone ? refused({ kind: "not_found", message: noPreviousRun(input) }) : null;
  }
  const { tail } = failure.exit;
  return done({ lines: tail.slice(-input.lines), truncated: tail.length > input.lines });
}

function noPreviousRun({ replica, rank }: LogsInput): string {
  return `${replica}/${rank} has no log of a previous run: it has not been started again, or that log is not kept any more. Leave out --previous for its present log.`;
}
