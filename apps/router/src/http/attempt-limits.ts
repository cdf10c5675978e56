import type { RouterSettings } from "../registry/settings.ts";

/** What the limits of an attempt depend on; instants are monotonic milliseconds. */
export interface AttemptProgress {
  readonly startMs: number;
  readonly isConnected: boolean;
  /** Since when the client has not read; null while it reads. */
  readonly pausedAtMs: number | null;
  readonly wantsStream: boolean;
  readonly isEventStream: boolean;
  readonly lastByteMs: number;
  /** Last content event of a stream, or the head of another answer; null before. */
  readonly lastContentMs: number | null;
}

export interface Limit {
  readonly atMs: number;
  readonly kind: "connect" | "first_byte" | "idle" | "progress" | "client_stall";
  /** What it means when it passes, for people. */
  readonly message: string;
}

/** The next time limit that an attempt runs into if nothing happens before. */
export function nextLimit(limits: RouterSettings["timeouts"], progress: AttemptProgress): Limit {
  const { connectMs, idleMs, progressMs, clientStallMs } = limits;
  const { startMs, isConnected, pausedAtMs, lastByteMs, lastContentMs } = progress;
  if (!isConnected) {
    return { atMs: startMs + connectMs, kind: "connect", message: `no connection within ${connectMs} ms` };
  }
  if (pausedAtMs !== null) {
    return { atMs: pausedAtMs + clientStallMs, kind: "client_stall", message: "the client does not read" };
  }
  if (lastContentMs === null) {
    // An engine may send its head, and pings, long before it has worked through its queue and the prompt.
    const limitMs = progress.wantsStream ? limits.firstByteMs : limits.firstByteNonStreamMs;
    return { atMs: startMs + limitMs, kind: "first_byte", message: `no answer within ${limitMs} ms` };
  }
  const idle: Limit = { atMs: lastByteMs + idleMs, kind: "idle", message: `silent for ${idleMs} ms` };
  const atMs = lastContentMs + progressMs;
  if (!progress.isEventStream || idle.atMs <= atMs) return idle;
  return { atMs, kind: "progress", message: `no token for ${progressMs} ms` };
}
