import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../database-log.ts";
import { waitUntil } from "../wait-until.ts";
import { databaseErrorCode, withConnection } from "../with-connection.ts";
import type { ServerAccount } from "./account.ts";
import { loopback } from "./port.ts";
import { endedError, type ProgramEnd, type RunningProgram, startProgram } from "./programs.ts";

/** Recovery after a crash replays at most `max_wal_size` of log; this leaves room for a slow disk. */
const readyTimeoutMs = 120_000;
const stopWaits = { fastMs: 20_000, immediateMs: 5000 } as const;

/** Why a server process did not come up. */
export type LaunchFailure =
  /** Something took the port between the check and the start. */
  | { readonly kind: "port_busy" }
  /** Processes of a server that died still hold its memory; they end by themselves soon. */
  | { readonly kind: "remnants"; readonly error: Error }
  | { readonly kind: "failed"; readonly error: Error };

/** Starts `postgres` on an existing data folder and waits until it accepts connections. */
export async function launchServer(options: {
  readonly nativeDir: string;
  readonly dataDir: string;
  readonly port: number;
  readonly account: ServerAccount;
  /** false gives up crash safety for speed: for tests only. */
  readonly durable: boolean;
  /** Superuser address that must accept connections. */
  readonly url: string;
  readonly log: DatabaseLog;
  readonly signal: AbortSignal;
}): Promise<{ readonly kind: "ready"; readonly program: RunningProgram } | LaunchFailure> {
  const program = startProgram({
    nativeDir: options.nativeDir,
    name: "postgres",
    account: options.account,
    args: ["-D", options.dataDir, ...settings(options).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    onLine: (line) => logLine(options.log, line),
  });
  let end: ProgramEnd | undefined;
  void program.ended.then((value) => {
    end = value;
  });
  try {
    const ready = await waitUntil(async () => end !== undefined || (await accepts(options.url)), {
      timeoutMs: readyTimeoutMs,
      intervalMs: 30,
      signal: options.signal,
    });
    if (end !== undefined) {
      return launchFailure(end, program.lastLines());
    }
    if (!ready) {
      throw new DatabaseError(
        [
          `The embedded database did not accept connections within ${readyTimeoutMs / 1000} s.`,
          ...program.lastLines(),
        ].join("\n  "),
      );
    }
    return { kind: "ready", program };
  } catch (error) {
    await stopServer(program);
    throw error;
  }
}

/** Fast shutdown: sessions are ended, a checkpoint is written. Harder means follow when it takes too long. */
export async function stopServer(program: RunningProgram): Promise<void> {
  let over = false;
  const ended = program.ended.then(() => {
    over = true;
  });
  const steps = [
    { name: "SIGINT", timeoutMs: stopWaits.fastMs },
    { name: "SIGQUIT", timeoutMs: stopWaits.immediateMs },
  ] as const;
  for (const { name, timeoutMs } of steps) {
    program.child.kill(name);
    if (await waitUntil(() => over, { timeoutMs, intervalMs: 20 })) {
      return;
    }
  }
  program.child.kill("SIGKILL");
  await ended;
}

function settings(options: { readonly port: number; readonly durable: boolean }): [name: string, value: string][] {
  return [
    ["port", String(options.port)],
    ["listen_addresses", loopback],
    ["unix_socket_directories", ""],
    ["max_connections", "100"],
    ["shared_buffers", "64MB"],
    ["max_wal_size", "256MB"],
    // Nothing replicates from this server.
    ["wal_level", "minimal"],
    ["max_wal_senders", "0"],
    // Compiling queries costs more than it saves on short ones.
    ["jit", "off"],
    ["timezone", "UTC"],
    ["log_timezone", "UTC"],
    ["log_line_prefix", ""],
    ...(options.durable
      ? []
      : ([
          ["fsync", "off"],
          ["synchronous_commit", "off"],
          ["full_page_writes", "off"],
        ] satisfies [string, string][])),
  ];
}

async function accepts(url: string): Promise<boolean> {
  try {
    return await withConnection(url, () => Promise.resolve(true));
  } catch (error) {
    if (databaseErrorCode(error) === "28P01") {
      throw new DatabaseError(
        "The embedded database refuses the stored password: secrets.json and the data do not belong together. Restore the right one.",
        { cause: error },
      );
    }
    return false;
  }
}

function launchFailure(end: ProgramEnd, lines: readonly string[]): LaunchFailure {
  const text = lines.join("\n");
  if (text.includes("could not create any TCP/IP sockets")) {
    return { kind: "port_busy" };
  }
  const error = endedError("The embedded database ended while starting", end, lines);
  return { kind: text.includes("is still in use") ? "remnants" : "failed", error };
}

/** What concerns one session (ERROR, FATAL) its client is told anyway; what concerns the server is for the operator. */
function logLine(log: DatabaseLog, line: string): void {
  if (/^(?:WARNING|PANIC):/u.test(line)) {
    log.warn({}, `postgres: ${line}`);
  } else {
    log.debug({}, `postgres: ${line}`);
  }
}
