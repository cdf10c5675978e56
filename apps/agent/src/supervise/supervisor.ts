import type { ShardObservation } from "@llmgw/domain";
import type { RunGroupPart } from "@llmgw/service";
import type { AgentSyncAnswer } from "@llmgw/wire";
import { pruneLogs } from "../logs/prune-logs.ts";
import { readDesired, writeDesired } from "../processes/desired-file.ts";
import { privateDirOf, removePrivateFiles } from "../processes/private-files.ts";
import type { ShardRecord } from "../processes/shard-record.ts";
import { signalMembers } from "../processes/signal-members.ts";
import { adopt, isGone } from "./adopt.ts";
import type { SuperviseContext } from "./context.ts";
import type { AgentCommand, AgentEvent } from "./event.ts";
import { neverStarted } from "./exit-facts.ts";
import { observe } from "./observe.ts";
import { reduce } from "./reduce.ts";
import { pause, repeat } from "./repeat.ts";
import type { ShardHandle } from "./shard-handle.ts";
import { type AgentState, nothingDesired, type ShardState, shardId } from "./shard-state.ts";
import { startShard } from "./start-shard.ts";
import { askAdopted, type WatchTarget, watchShard } from "./watch-shard.ts";

export interface SupervisorEnd {
  /** End the engines when the agent is told to end; false leaves them to the next agent. */
  readonly stopEngines: boolean;
  readonly killAfterMs: number;
}

/** The shell around the reducer: does what it says, tells it what happens, and keeps its state on disk. */
export class Supervisor implements RunGroupPart {
  readonly name = "supervisor";
  readonly #context: SuperviseContext;
  readonly #end: SupervisorEnd;
  #state: AgentState = { desired: nothingDesired, shards: new Map(), hold: null };
  readonly #handles = new Map<string, ShardHandle>();
  /** What is being written or started, by shard (and for the desired state), each in order. */
  readonly #queues = new Map<string, Promise<void>>();
  readonly #watching = new AbortController();
  readonly #watches = new Set<Promise<void>>();
  #urgentListener: () => void = () => undefined;

  constructor(context: SuperviseContext, end: SupervisorEnd) {
    this.#context = context;
    this.#end = end;
  }

  get state(): AgentState {
    return this.#state;
  }

  /** Called when there is news that the control plane waits for. */
  onUrgent(listener: () => void): void {
    this.#urgentListener = listener;
  }

  observations(): ShardObservation[] {
    return observe(this.#state, this.#context.clock.monotonicMs());
  }

  /** Ids of the shards that a report made now calls exited. */
  exitedIds(): string[] {
    return [...this.#state.shards].flatMap(([id, { process }]) => (process.kind === "exited" ? [id] : []));
  }

  /** The shard that a live process belongs to, as `<replica>/<rank>`; null for a process that is not ours. */
  shardOfPid(pid: number): string | null {
    for (const { identity, key } of this.#handles.values()) {
      if (identity.pid === pid) return `${key.replicaId}/${key.rank}`;
    }
    return null;
  }

  /** Takes over what an earlier agent left behind, then carries on with the desired state found on disk. */
  async start(): Promise<void> {
    const { log, records, desiredPath } = this.#context;
    const { desired, problem } = await readDesired(desiredPath);
    const found = await records.load();
    for (const trouble of [...(problem === null ? [] : [problem]), ...found.problems]) log.error(trouble);
    const { shards, handles, neverSpawned } = adopt(this.#context, found.records, desired);
    for (const key of neverSpawned) await records.remove(key);
    this.#state = { desired, shards, hold: null };
    const settled: Promise<void>[] = [];
    for (const handle of handles) {
      this.#handles.set(handle.id, handle);
      const watch = this.#watch(handle);
      // What is gone altogether is in the first report as gone; what left processes behind is ended first.
      if (handle.ended !== null && isGone(this.#context, handle)) settled.push(watch);
      if (handle.ended !== null) continue;
      settled.push(askAdopted(this.#target(handle), this.#watching.signal));
      log.info({ shard: handle.id, pid: handle.identity.pid }, "engine adopted");
    }
    await Promise.all(settled);
    this.dispatch({ kind: "resume" });
  }

  /** Carries out an answer; resolves once it is on disk, so that its version may be reported as applied. */
  async apply(answer: AgentSyncAnswer, reportedExited: readonly string[]): Promise<void> {
    this.dispatch({ kind: "answer", answer, reportedExited });
    await this.#queues.get(desiredQueue);
  }

  dispatch(event: AgentEvent): void {
    const { clock, settings } = this.#context;
    const before = this.#state;
    const { state, commands, urgent } = reduce(before, event, { nowMs: clock.monotonicMs(), settings });
    this.#state = state;
    if (state.desired !== before.desired) {
      this.#enqueue(desiredQueue, () => writeDesired(this.#context.desiredPath, state.desired));
    }
    for (const [id, shard] of state.shards) this.#noteChange(id, before.shards.get(id), shard);
    for (const command of commands) this.#execute(command);
    if (urgent) this.#urgentListener();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, timings, log } = this.#context;
    const pruning = repeat(
      () => this.#pruneLogs(),
      { clock, log, what: "removing logs of replicas that are gone", everyMs: () => timings.pruneMs },
      signal,
    );
    while (!signal.aborted) {
      this.dispatch({ kind: "tick" });
      await pause(clock, timings.tickMs, signal);
    }
    await pruning;
    if (this.#end.stopEngines) await this.#stopEngines();
    this.#watching.abort(new Error("the agent ends"));
    await Promise.all([...this.#watches]);
    await Promise.all([...this.#queues.values()]);
  }

  async #pruneLogs(): Promise<void> {
    const { logsDir: directory, clock, log } = this.#context;
    const kept = new Set([...this.#state.shards.values()].map(({ key }) => key.replicaId));
    const removed = await pruneLogs({ directory, kept, nowMs: clock.nowMs() });
    if (removed.length > 0) log.info({ replicas: removed }, "logs of replicas that are gone removed");
  }

  async #stopEngines(): Promise<void> {
    const { clock, timings, settings, log } = this.#context;
    const alive = () => [...this.#state.shards.values()].filter(({ process }) => process.kind !== "exited");
    const untilMs = clock.monotonicMs() + this.#end.killAfterMs + settings.stuckAfterMs;
    this.dispatch({ kind: "stop_all", killAfterMs: this.#end.killAfterMs });
    while (alive().length > 0 && clock.monotonicMs() < untilMs) {
      this.dispatch({ kind: "tick" });
      await pause(clock, Math.min(timings.tickMs, timings.goneMs), never);
    }
    for (const { key, process } of alive()) {
      const pid = "process" in process ? process.process.pid : null;
      log.error({ shard: shardId(key), pid }, "this engine survives; the next agent goes on ending it when told to");
    }
  }

  #execute(command: AgentCommand): void {
    const { id } = command;
    switch (command.kind) {
      case "spawn":
        this.#enqueue(id, () => this.#spawn(command));
        return;
      case "signal": {
        const handle = this.#handles.get(id);
        if (handle === undefined) return;
        const pids = signalMembers({ ...this.#context, identity: handle.identity }, command.signal);
        this.#context.log.info({ shard: id, pids, signal: command.signal }, "signal sent");
        return;
      }
      case "forget": {
        const key = this.#handles.get(id)?.key ?? keyOf(id);
        this.#handles.delete(id);
        this.#enqueue(id, async () => {
          await this.#context.records.remove(key);
          await removePrivateFiles(privateDirOf(this.#context.privateDir, key));
          this.#queues.delete(id);
        });
      }
    }
  }

  async #spawn({ id, launch, attempt }: Extract<AgentCommand, { kind: "spawn" }>): Promise<void> {
    const takenPorts = new Set([...this.#handles.values()].map((handle) => handle.port));
    const isStopped = () => {
      const process = this.#state.shards.get(id)?.process;
      return process?.kind !== "spawning" || process.stop !== null;
    };
    const order = { launch, attempt, takenPorts, isStopped };
    const outcome = await startShard(this.#context, order, this.#watching.signal).catch((error: unknown) => {
      this.#context.log.error({ shard: id, error }, "starting a shard failed");
      const said = error instanceof Error ? error.message : String(error);
      return { kind: "failed", facts: neverStarted("crash", `The agent could not start it: ${said}`, null) } as const;
    });
    if (outcome.kind === "abandoned") return;
    if (outcome.kind === "failed") {
      this.#context.log.warn({ shard: id, cause: outcome.facts.cause }, "shard not started");
      this.dispatch({ kind: "spawn_failed", id, facts: outcome.facts });
      return;
    }
    const { handle } = outcome;
    this.#context.log.info({ shard: id, pid: handle.identity.pid, port: handle.port, attempt }, "engine started");
    this.#handles.set(id, handle);
    const startedAtMs = this.#context.clock.monotonicMs();
    const { host, port, identity } = handle;
    this.dispatch({ kind: "spawned", id, process: { pid: identity.pid, host, port, startedAtMs } });
    void this.#watch(handle);
  }

  #target(handle: ShardHandle): WatchTarget {
    const shard = () => this.#state.shards.get(handle.id);
    return { context: this.#context, handle, shard, dispatch: (event) => this.dispatch(event) };
  }

  #watch(handle: ShardHandle): Promise<void> {
    const watch = watchShard(this.#target(handle), this.#watching.signal).catch((error: unknown) =>
      this.#context.log.error({ shard: handle.id, error }, "the watch over this engine failed"),
    );
    this.#watches.add(watch);
    void watch.then(() => this.#watches.delete(watch));
    return watch;
  }

  /** Logs what became of a shard and keeps on disk what a successor has to know of it. */
  #noteChange(id: string, before: ShardState | undefined, after: ShardState): void {
    if (before === after) return;
    const was = before === undefined ? undefined : persistent(before);
    const is = persistent(after);
    const isSame = was?.ready === is.ready && was.exit === is.exit && was.launch === is.launch;
    if (isSame || after.process.kind === "spawning") return;
    if (is.exit !== null && was?.exit === null) {
      const { tail: _tail, ...exit } = is.exit;
      this.#context.log.info({ shard: id, exit }, "engine exited");
    } else if (is.ready && was?.ready === false) this.#context.log.info({ shard: id }, "engine ready");
    const record = this.#recordOf(id, after);
    this.#enqueue(id, () => this.#context.records.save(record));
  }

  #recordOf(id: string, shard: ShardState): ShardRecord {
    const handle = this.#handles.get(id);
    const { bootId, clock } = this.#context;
    return {
      key: shard.key,
      attempt: handle?.attempt ?? 1,
      token: handle?.identity.token ?? "",
      bootId: handle?.identity.bootId ?? bootId,
      host: handle?.host ?? "",
      port: handle?.port ?? 0,
      process: handle === undefined ? null : { pid: handle.identity.pid, startTime: handle.identity.startTime },
      startedAt: handle?.startedAt ?? new Date(clock.nowMs()).toISOString(),
      ...persistent(shard),
    };
  }

  #enqueue(queue: string, work: () => Promise<void>): void {
    const before = this.#queues.get(queue) ?? Promise.resolve();
    const next = before.then(work).catch((error: unknown) => {
      this.#context.log.error({ queue, error }, "writing the agent's state failed");
    });
    this.#queues.set(queue, next);
  }
}

const desiredQueue = "desired";
const never = new AbortController().signal;

function persistent({ launch, process }: ShardState): Pick<ShardRecord, "launch" | "ready" | "exit"> {
  return {
    launch,
    ready: process.kind === "running" && process.ready,
    exit: process.kind === "exited" ? process.exit : null,
  };
}

/** The key that a `shardId` was made of. */
function keyOf(id: string): ShardRecord["key"] {
  const match = /^(.*)\/(\d+)#(\d+)$/.exec(id);
  const [, replicaId, rank, generation] = match ?? [];
  if (replicaId === undefined) throw new Error(`not a shard id: ${id}`);
  return { replicaId, rank: Number(rank), generation: Number(generation) };
}
