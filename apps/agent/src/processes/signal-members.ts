import { membersOf, type ProcessIdentity, type ProcessTable } from "./process-table.ts";

export interface SignalTarget {
  readonly table: ProcessTable;
  readonly identity: ProcessIdentity;
  readonly bootId: string;
}

/**
 * Sends a signal to every process of an engine and answers the pids it went to. Each is looked up just before: a pid
 * that was reused in the meantime belongs to no group of ours and carries no token of ours, so it is not among them.
 */
export function signalMembers({ table, identity, bootId }: SignalTarget, signal: "SIGTERM" | "SIGKILL"): number[] {
  const pids = membersOf(table, identity, bootId).map((entry) => entry.pid);
  for (const pid of pids) sendSignal(pid, signal);
  return pids;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended since we looked: that is what the signal was for.
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return;
    throw new Error(`cannot send ${signal} to process ${pid}`, { cause: error });
  }
}
