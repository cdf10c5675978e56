/** One process as the system's table has it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** What tells it from a later process with the same pid. Comparable only on one machine and boot. */
  readonly startTime: string;
}

/** The environment variable that carries a shard's token, by which its processes are known for ours. */
export const shardTokenVariable = "LLMGW_SHARD_TOKEN";

/** The system's processes. Zombies count as gone: nothing of them runs, and their parent may never collect them. */
export interface ProcessTable {
  /** One process, or null when there is none (any more). */
  find(pid: number): ProcessEntry | null;
  list(): readonly ProcessEntry[];
  /** The shard token in a process's environment; null when it has none or may not be read. */
  shardToken(pid: number): string | null;
  /** False where environments cannot be read: then tokens prove nothing either way. */
  readonly readsTokens: boolean;
  /** How long a process has run, ms; null when unknown. */
  ageMs(entry: ProcessEntry): number | null;
}

/** What is known of an engine's main process, as kept on disk. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly token: string;
}

/**
 * True when that very process runs: pid, start time, boot and token agree. A program that rewrites its title may
 * overwrite the environment it was started with (Python's setproctitle does, and vLLM uses it); one that shows no token
 * at all is taken for ours only while it still leads the session it was started in.
 */
export function isAlive(table: ProcessTable, identity: ProcessIdentity, bootId: string): boolean {
  if (identity.bootId !== bootId) return false;
  const entry = table.find(identity.pid);
  if (entry === null || entry.startTime !== identity.startTime) return false;
  if (!table.readsTokens) return true;
  const token = table.shardToken(entry.pid);
  return token === null ? entry.sessionId === entry.pid : token === identity.token;
}

/**
 * Every live process of an engine: its session and group, and whatever left them but carries its token. When the pid
 * belongs to another process by now, the session's number was free in between, so only the token counts.
 */
export function membersOf(table: ProcessTable, identity: ProcessIdentity, bootId: string): readonly ProcessEntry[] {
  if (identity.bootId !== bootId) return [];
  const leader = table.find(identity.pid);
  const isReused = leader !== null && leader.startTime !== identity.startTime;
  return table.list().filter((entry) => {
    const isInGroup = entry.sessionId === identity.pid || entry.groupId === identity.pid;
    if (isInGroup && !isReused) return true;
    return table.readsTokens && table.shardToken(entry.pid) === identity.token;
  });
}
