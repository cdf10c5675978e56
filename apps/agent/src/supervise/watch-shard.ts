import { hostPort, type Logger } from "@llmgw/service";
import type { ShardLaunch } from "@llmgw/wire";
import { cleanLines } from "../logs/clean-log.ts";
import { logFileMaxBytes, readFrom, rotateLog, sizeOf } from "../logs/log-file.ts";
import { redact } from "../logs/redact.ts";
import { isAlive, membersOf } from "../processes/process-table.ts";
import { adapterOf, type SuperviseContext, secretsOf } from "./context.ts";
import type { AgentEvent } from "./event.ts";
import { exitFacts, neverStarted } from "./exit-facts.ts";
import { NoProgress } from "./no-progress.ts";
import {
  askHealth,
  askReady,
  askWork,
  type EngineAddress,
  type ReadyAnswer,
  takesConnections,
} from "./probe-engine.ts";
import { pause, repeat } from "./repeat.ts";
import type { ShardHandle } from "./shard-handle.ts";
import type { ShardState } from "./shard-state.ts";

/** The supervisor as a watch sees it. */
export interface WatchTarget {
  readonly context: SuperviseContext;
  readonly handle: ShardHandle;
  /** The shard's present state; undefined once it is forgotten. */
  readonly shard: () => ShardState | undefined;
  readonly dispatch: (event: AgentEvent) => void;
}

interface Watch extends WatchTarget {
  readonly log: Logger;
  readonly progress: NoProgress;
}

/** Bytes of new log that are read at once for progress; of a flood only the end is looked at. */
const progressBytes = 256 * 1024;
/** A wrong model is believed only when it is listed this often in a row. */
const wrongModelReads = 3;
/** The first report does not wait longer than this, twice, for an adopted engine that may hang. */
const adoptedProbeMs = 1_000;

/**
 * Watches one process until every member of its group is gone, and tells the supervisor what it sees. Returns early
 * when the signal aborts: the process runs on.
 */
export async function watchShard(target: WatchTarget, signal: AbortSignal): Promise<void> {
  const { context, handle, dispatch } = target;
  const progress = new NoProgress(context.timings.noProgressMs);
  const watch: Watch = { ...target, progress, log: context.log.child({ shard: handle.id, pid: handle.identity.pid }) };
  const ended = new AbortController();
  const whileAlive = AbortSignal.any([signal, ended.signal]);
  const loops = [
    watchLoad(watch, whileAlive),
    watchHealth(watch, whileAlive),
    watchWork(watch, whileAlive),
    watchLogSize(watch, whileAlive),
  ];
  const end = await untilEnded(watch, signal);
  ended.abort(new Error("the engine's main process ended"));
  await Promise.all(loops);
  if (end === null) return;
  if (!(await untilGroupGone(watch, end, signal))) return;
  const launch = target.shard()?.launch ?? null;
  const facts =
    handle.identity.bootId === context.bootId
      ? await exitFacts({
          ...end,
          logPath: handle.logPath,
          adapter: adapterOf(context, launch),
          secrets: secretsOf(context, launch),
        })
      : neverStarted("killed", "The machine was restarted under it", null);
  dispatch({ kind: "gone", id: handle.id, facts });
}

type End = { readonly code: number | null; readonly signal: string | null };

/** The end of the main process; null when the signal aborted first. */
async function untilEnded({ context, handle }: Watch, signal: AbortSignal): Promise<End | null> {
  if (handle.ended !== null) {
    const aborted = new Promise<null>((resolve) => {
      if (signal.aborted) resolve(null);
      signal.addEventListener("abort", () => resolve(null), { once: true });
    });
    return await Promise.race([handle.ended, aborted]);
  }
  while (!signal.aborted) {
    // Nobody but its parent is told how a process ended, and its parent was an earlier agent.
    if (!isAlive(context.table, handle.identity, context.bootId)) return { code: null, signal: null };
    await pause(context.clock, context.timings.watchMs, signal);
  }
  return null;
}

/** True once no process of the engine is left. Those that outlive its main process are ended by the supervisor. */
async function untilGroupGone({ context, handle, dispatch }: Watch, end: End, signal: AbortSignal): Promise<boolean> {
  for (let looks = 0; !signal.aborted; looks += 1) {
    if (membersOf(context.table, handle.identity, context.bootId).length === 0) return true;
    if (looks === 0) dispatch({ kind: "leader_ended", id: handle.id, ...end });
    await pause(context.clock, context.timings.goneMs, signal);
  }
  return false;
}

/** While it loads: does its log grow, what does it say, can it answer yet. */
async function watchLoad(watch: Watch, signal: AbortSignal): Promise<void> {
  const { context, handle, dispatch, shard, log } = watch;
  let offset = 0;
  let wrongModels = 0;
  const look = async () => {
    const state = shard();
    if (state?.process.kind !== "running" || state.process.ready) return;
    const adapter = adapterOf(context, state.launch);
    if (adapter === null || state.launch === null) return;
    const size = await sizeOf(handle.logPath);
    if (size !== offset) {
      const bytes = await readFrom(handle.logPath, size < offset ? 0 : offset, progressBytes);
      offset = size;
      const secrets = secretsOf(context, state.launch);
      const said = cleanLines(bytes.toString("utf8")).flatMap((line) => adapter.progress(line) ?? []);
      const last = said.at(-1) ?? null;
      const progress = last === null ? null : { ...last, message: redact(last.message, secrets) };
      dispatch({ kind: "log_grew", id: handle.id, progress });
    }
    const answer = await askShard(watch, { launch: state.launch, timeoutMs: context.timings.probeTimeoutMs }, signal);
    if (answer.kind === "failed") dispatch({ kind: "load_failed", id: handle.id, said: answer.said });
    wrongModels = answer.kind === "serves_other" ? wrongModels + 1 : 0;
    if (answer.kind === "ready") dispatch({ kind: "ready", id: handle.id });
    if (answer.kind === "serves_other" && wrongModels >= wrongModelReads) {
      dispatch({ kind: "serves_other", id: handle.id, found: answer.found });
    }
  };
  await repeat(
    look,
    { clock: context.clock, log, what: "watching the load", everyMs: () => context.timings.watchMs },
    signal,
  );
}

/** Asks a process, in the way of its engine and rank, whether it is ready. */
async function askShard(
  { context, handle }: Pick<Watch, "context" | "handle">,
  { launch, timeoutMs }: { readonly launch: ShardLaunch; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<ReadyAnswer> {
  const readiness = adapterOf(context, launch)?.readiness(launch.rank);
  switch (readiness?.kind) {
    case undefined:
      return { kind: "not_yet" };
    case "http": {
      const address = { ...addressOf({ context, handle }, launch.apiKey), timeoutMs };
      return await askReady(address, { readiness, modelId: launch.modelId }, signal);
    }
    case "listens": {
      const port = launch.group?.ranks[launch.rank]?.port ?? handle.port;
      const listens = await takesConnections({ host: handle.host, port }, timeoutMs, signal);
      return { kind: listens ? "ready" : "not_yet" };
    }
    case "runs":
      return { kind: "ready" };
  }
}

async function watchHealth(watch: Watch, signal: AbortSignal): Promise<void> {
  const { context, handle, dispatch, shard, log } = watch;
  const look = async () => {
    const state = shard();
    const adapter = adapterOf(context, state?.launch ?? null);
    if (state?.process.kind !== "running" || !state.process.ready || state.launch === null || adapter === null) return;
    const readiness = adapter.readiness(state.launch.rank);
    if (readiness.kind !== "http") return;
    const problem =
      (await askHealth(addressOf(watch, state.launch.apiKey), readiness.alivePath, signal)) ??
      watch.progress.problem(context.clock.monotonicMs());
    if (problem !== state.process.healthProblem) dispatch({ kind: "health", id: handle.id, problem });
  };
  await repeat(
    look,
    { clock: context.clock, log, what: "the health check", everyMs: () => context.timings.healthMs },
    signal,
  );
}

/** Reads what the engine is working on: each second while its idleness has to be proved, else now and then. */
async function watchWork(watch: Watch, signal: AbortSignal): Promise<void> {
  const { context, handle, dispatch, shard, log } = watch;
  const { timings } = context;
  const isQuieting = () => (shard()?.launch?.quietSinceVersion ?? null) !== null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  const look = async () => {
    const state = shard();
    const adapter = adapterOf(context, state?.launch ?? null);
    if (state?.process.kind !== "running" || !state.process.ready || state.launch === null || adapter === null) return;
    // Rank 0 counts for its group.
    if (adapter.readiness(state.launch.rank).kind !== "http") return;
    const nowMs = context.clock.monotonicMs();
    if (nowMs - readAtMs < (isQuieting() ? timings.quietReadMs : timings.activityMs)) return;
    readAtMs = nowMs;
    // Taken before the question, so that an answer from before the order to count is known as such.
    const sinceVersion = state.launch.quietSinceVersion ?? 0;
    const counts = await askWork(addressOf(watch, state.launch.apiKey), adapter, signal);
    watch.progress.saw(counts, context.clock.monotonicMs());
    dispatch({ kind: "activity", id: handle.id, counts, sinceVersion });
  };
  // Looks more often than it reads, so that an order to count is followed at once.
  const everyMs = () => timings.quietReadMs / 10;
  await repeat(look, { clock: context.clock, log, what: "reading the engine's counts", everyMs }, signal);
}

async function watchLogSize({ context, handle, log }: Watch, signal: AbortSignal): Promise<void> {
  const look = async () => {
    if ((await sizeOf(handle.logPath)) > logFileMaxBytes) await rotateLog(handle.logPath);
  };
  await repeat(
    look,
    { clock: context.clock, log, what: "rotating the log", everyMs: () => context.timings.logCheckMs },
    signal,
  );
}

/**
 * Asks an adopted engine, once, whether it can answer. What was ready for the agent before may not have got to disk as
 * such, and a serving engine must not be reported as one that is only starting.
 */
export async function askAdopted(
  { context, handle, shard, dispatch }: WatchTarget,
  signal: AbortSignal,
): Promise<void> {
  const state = shard();
  if (state?.process.kind !== "running" || state.process.ready || state.launch === null) return;
  const answer = await askShard({ context, handle }, { launch: state.launch, timeoutMs: adoptedProbeMs }, signal);
  if (answer.kind === "ready") dispatch({ kind: "ready", id: handle.id });
}

function addressOf({ context, handle }: Pick<Watch, "context" | "handle">, apiKey: string): EngineAddress {
  return { url: `http://${hostPort(handle)}`, apiKey, timeoutMs: context.timings.probeTimeoutMs };
}
