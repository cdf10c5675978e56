import { rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { LaunchLine } from "@llmgw/engines";
import type { ShardLaunch } from "@llmgw/wire";
import { prepareLog } from "../logs/log-file.ts";
import { engineEnvironment } from "../processes/environment.ts";
import { canBind } from "../processes/ports.ts";
import { preparePrivateFiles, privateDirOf } from "../processes/private-files.ts";
import type { ShardRecord } from "../processes/shard-record.ts";
import { newShardToken } from "../processes/shard-token.ts";
import { spawnEngine } from "../processes/spawn-engine.ts";
import type { SuperviseContext } from "./context.ts";
import type { ExitFacts } from "./event.ts";
import { neverStarted } from "./exit-facts.ts";
import { takesConnections } from "./probe-engine.ts";
import { pause } from "./repeat.ts";
import type { ShardHandle } from "./shard-handle.ts";
import { shardId } from "./shard-state.ts";

export interface StartOrder {
  readonly launch: ShardLaunch;
  readonly attempt: number;
  readonly takenPorts: ReadonlySet<number>;
  /** It has been told to stop before it began: it need not wait for others any longer. */
  readonly isStopped: () => boolean;
}

export type StartOutcome =
  | { readonly kind: "started"; readonly handle: ShardHandle }
  | { readonly kind: "failed"; readonly facts: ExitFacts }
  /** The agent ends: nothing was started, and its successor begins anew. */
  | { readonly kind: "abandoned" };

/**
 * Starts the process of a shard. Its record is on disk before the process exists, so that an agent that dies in between
 * leaves no engine behind that its successor does not look for.
 */
export async function startShard(
  context: SuperviseContext,
  order: StartOrder,
  signal: AbortSignal,
): Promise<StartOutcome> {
  const { launch, attempt } = order;
  const { replicaId, generation, rank } = launch;
  const key = { replicaId, generation, rank };
  const adapter = context.registry.get(launch.engine.name);
  if (adapter === undefined || launch.source.kind === "external") {
    const known = [...context.registry.keys()].join(", ");
    return failed("bad_configuration", `Engine ${launch.engine.name} is not known by this agent, which runs ${known}`);
  }
  const resolution = await context.gpus.resolve(launch.gpuUuids, signal);
  if (resolution.kind === "missing") {
    return failed("gpu_fault", `This node has no GPU ${resolution.uuids.join(", ")} (any more)`);
  }
  if (resolution.kind === "unreadable")
    return failed("gpu_fault", `The node's GPUs cannot be read: ${resolution.problem}`);
  const host = context.advertise;
  const port = await context.ports.pick(host, order.takenPorts);
  if (port === null) return failed("port_in_use", `No port of the range LLMGW_AGENT_PORTS is free on ${host}`);
  const groupPort = launch.group?.ranks[rank]?.port;
  if (groupPort !== undefined && !(await canBind(host, groupPort))) {
    return failed("port_in_use", `Port ${groupPort} of ${host}, set aside for this replica's processes, is taken`);
  }

  const line = adapter.launch({
    modelId: launch.modelId,
    aliases: launch.aliases,
    model: modelOf(launch.source, context.modelsDir),
    isPath: launch.source.kind === "path",
    extraArgs: launch.engine.args,
    apiKey: launch.apiKey,
    host,
    port,
    tp: launch.tp,
    pp: launch.pp,
    group: launch.group === null ? null : { rank, ranks: launch.group.ranks },
    contextTokens: launch.contextTokens,
    memoryMibPerGpu: launch.memoryMibPerGpu,
    gpus: resolution.gpus,
    privateDir: privateDirOf(context.privateDir, key),
  });
  const met = await meetOthers(context, { ...order, startsAfter: line.startsAfter }, signal);
  if (met !== null) return met;
  const token = newShardToken({ owner: context.owner, key, port });
  const env = engineEnvironment({ ...context.environment, model: launch.engine.env, adapter: line.env, token });
  const logPath = await prepareLog(context.logsDir, key);
  // The attempt before only found its port taken: its lines would be read as the reason of this one's end.
  if (attempt > 1) await rm(logPath, { force: true });
  const startedAt = new Date(context.clock.nowMs()).toISOString();
  const record: ShardRecord = {
    key,
    launch,
    attempt,
    token,
    bootId: context.bootId,
    host,
    port,
    process: null,
    startedAt,
    ready: false,
    exit: null,
  };
  await context.records.save(record);
  await preparePrivateFiles(privateDirOf(context.privateDir, key), line.files);
  const outcome = await spawnEngine({ ...line, env, logPath, cwd: context.workDir });
  if (outcome.kind === "failed") return failed("bad_configuration", outcome.cause);
  // A process that has ended already has no start time to read: its end is on its way as an event.
  const startTime = context.table.find(outcome.pid)?.startTime ?? "";
  await context.records.save({ ...record, process: { pid: outcome.pid, startTime } });
  const identity = { pid: outcome.pid, startTime, bootId: context.bootId, token };
  const id = shardId(key);
  return {
    kind: "started",
    handle: { id, key, identity, host, port, attempt, startedAt, logPath, ended: outcome.ended },
  };
}

/**
 * Waits until the processes that this one needs take connections, as long as its load may take. Null once they do; else
 * how the start ends.
 */
async function meetOthers(
  { clock, timings }: SuperviseContext,
  { launch, isStopped, startsAfter }: StartOrder & Pick<LaunchLine, "startsAfter">,
  signal: AbortSignal,
): Promise<StartOutcome | null> {
  const untilMs = clock.monotonicMs() + launch.load.maxMs;
  for (const other of startsAfter) {
    while (!(await takesConnections(other, timings.probeTimeoutMs, signal))) {
      if (signal.aborted) return { kind: "abandoned" };
      if (isStopped()) return failed("stopped", "It was told to stop before it began.");
      if (clock.monotonicMs() >= untilMs) {
        const where = `${other.host}:${other.port}`;
        return failed("load_stalled", `The worker of this replica at ${where} did not take connections in time`);
      }
      await pause(clock, timings.watchMs, signal);
    }
  }
  return null;
}

/** A relative path is one below `LLMGW_MODELS_DIR`. */
function modelOf(source: Exclude<ShardLaunch["source"], { kind: "external" }>, modelsDir: string | null): string {
  if (source.kind === "hub") return source.repo;
  return modelsDir === null || isAbsolute(source.path) ? source.path : join(modelsDir, source.path);
}

function failed(category: ExitFacts["category"], cause: string): StartOutcome {
  return { kind: "failed", facts: neverStarted(category, cause, null) };
}
