import { logPath } from "../logs/log-file.ts";
import { isAlive, membersOf, type ProcessEntry, type ProcessIdentity } from "../processes/process-table.ts";
import type { ShardRecord } from "../processes/shard-record.ts";
import { readShardToken } from "../processes/shard-token.ts";
import type { SuperviseContext } from "./context.ts";
import type { ShardHandle } from "./shard-handle.ts";
import { type DesiredState, type ShardKey, type ShardState, shardId } from "./shard-state.ts";

export interface Adopted {
  readonly shards: ReadonlyMap<string, ShardState>;
  /** Handles of everything that has not exited; one whose `ended` is set is gone already. */
  readonly handles: readonly ShardHandle[];
  /** Starts that were decided and of which no process shows: as good as not begun. */
  readonly neverSpawned: readonly ShardKey[];
}

/**
 * What an agent that starts finds of its predecessor: engines that still run (pid, start time, boot and token agree),
 * records of ended ones, and engines whose record was lost, by their token. A pid that is somebody else's by now is a
 * dead engine and is left alone.
 */
export function adopt(context: SuperviseContext, records: readonly ShardRecord[], desired: DesiredState): Adopted {
  const shards = new Map<string, ShardState>();
  const handles: ShardHandle[] = [];
  const neverSpawned: ShardKey[] = [];
  const add = (state: ShardState, handle: ShardHandle | null) => {
    shards.set(shardId(state.key), state);
    if (handle !== null) handles.push(handle);
  };
  const byToken = tokenHolders(context);
  for (const record of records) {
    if (record.exit !== null) {
      add({ key: record.key, launch: record.launch, process: { kind: "exited", exit: record.exit } }, null);
      continue;
    }
    const process = record.process ?? leaderOf(byToken.get(record.token) ?? []);
    if (process === null) {
      neverSpawned.push(record.key);
      continue;
    }
    const identity = { ...process, bootId: record.bootId, token: record.token };
    add(running(context, record, identity), handleOf(context, record, identity));
  }
  const known = new Set(records.map((record) => record.token));
  for (const [token, entries] of byToken) {
    const facts = readShardToken(token);
    const leader = leaderOf(entries);
    if (known.has(token) || facts?.owner !== context.owner || leader === null) continue;
    const id = shardId(facts.key);
    if (shards.has(id)) continue;
    const record = lostRecord(context, { token, key: facts.key, port: facts.port }, desired);
    const identity = { ...leader, bootId: context.bootId, token };
    add(running(context, record, identity), handleOf(context, record, identity));
  }
  return { shards, handles, neverSpawned };
}

function running(context: SuperviseContext, record: ShardRecord, identity: ProcessIdentity): ShardState {
  const { key, launch, attempt, host, port } = record;
  const nowMs = context.clock.monotonicMs();
  const alive = isAlive(context.table, identity, context.bootId);
  const ageMs = alive
    ? ageOf(context, identity.pid, record.startedAt)
    : context.clock.nowMs() - Date.parse(record.startedAt);
  return {
    key,
    launch,
    process: {
      kind: "running",
      process: { pid: identity.pid, host, port, startedAtMs: nowMs - ageMs },
      attempt,
      ready: alive && record.ready,
      load: { ratio: record.ready ? 1 : null, message: null, grewAtMs: nowMs },
      activity: null,
      healthProblem: null,
    },
  };
}

function ageOf({ table, clock }: SuperviseContext, pid: number, startedAt: string): number {
  const entry = table.find(pid);
  return (entry === null ? null : table.ageMs(entry)) ?? Math.max(0, clock.nowMs() - Date.parse(startedAt));
}

function handleOf(context: SuperviseContext, record: ShardRecord, identity: ProcessIdentity): ShardHandle {
  const { key, host, port, attempt, startedAt } = record;
  const alive = isAlive(context.table, identity, context.bootId);
  return {
    id: shardId(key),
    key,
    identity,
    host,
    port,
    attempt,
    startedAt,
    logPath: logPath(context.logsDir, key),
    ended: alive ? null : Promise.resolve({ code: null, signal: null }),
  };
}

/** True when nothing of an engine is left, its main process and everything it started. */
export function isGone({ table, bootId }: SuperviseContext, handle: ShardHandle): boolean {
  return membersOf(table, handle.identity, bootId).length === 0;
}

function lostRecord(
  context: SuperviseContext,
  { token, key, port }: { token: string; key: ShardRecord["key"]; port: number },
  desired: DesiredState,
): ShardRecord {
  return {
    key,
    launch: desired.run.find((launch) => shardId(launch) === shardId(key)) ?? null,
    attempt: 1,
    token,
    bootId: context.bootId,
    host: context.advertise,
    port,
    process: null,
    startedAt: new Date(context.clock.nowMs()).toISOString(),
    ready: false,
    exit: null,
  };
}

/** Live processes by the shard token they carry. */
function tokenHolders({ table }: SuperviseContext): Map<string, ProcessEntry[]> {
  const holders = new Map<string, ProcessEntry[]>();
  if (!table.readsTokens) return holders;
  for (const entry of table.list()) {
    const token = table.shardToken(entry.pid);
    if (token !== null) holders.set(token, [...(holders.get(token) ?? []), entry]);
  }
  return holders;
}

/** The process that leads its session, else the oldest: start times of one boot compare as numbers. */
function leaderOf(entries: readonly ProcessEntry[]): { pid: number; startTime: string } | null {
  const oldest = entries.toSorted((a, b) => Number(a.startTime) - Number(b.startTime)).at(0);
  const leader = entries.find((entry) => entry.pid === entry.sessionId) ?? oldest;
  return leader === undefined ? null : { pid: leader.pid, startTime: leader.startTime };
}
