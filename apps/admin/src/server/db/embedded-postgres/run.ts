import { waitUntil } from "../wait-until.ts";
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from "./start.ts";

const parentCheckMs = 500;

/**
 * Runs the embedded PostgreSQL until `signal` aborts, then stops it. Rejects when the server ends by itself.
 * @param options.stopWithParent also ends when this process gets another parent, which is how the death of its
 *   starter by `kill -9` shows.
 */
export async function runEmbeddedPostgres(
  options: EmbeddedPostgresOptions & {
    readonly stopWithParent: boolean;
    readonly onReady: (server: EmbeddedPostgres) => void;
  },
): Promise<void> {
  const { log } = options;
  const parentPid = process.ppid;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const parentGone = options.stopWithParent
    ? waitUntil(() => process.ppid !== parentPid, {
        timeoutMs: Number.POSITIVE_INFINITY,
        intervalMs: parentCheckMs,
        signal,
      }).then(
        () => {
          log.warn({ parentPid }, "the process that started the embedded database is gone; stopping too");
          over.abort(new Error("the parent process is gone"));
        },
        () => undefined,
      )
    : undefined;
  try {
    await using server = await startEmbeddedPostgres({ ...options, signal });
    log.info({ port: server.port, pid: server.pid }, "the embedded database accepts connections");
    options.onReady(server);
    const death = await Promise.race([server.died, aborted(signal)]);
    if (death !== undefined) {
      throw death;
    }
  } catch (error) {
    if (!(signal.aborted && error === signal.reason)) {
      throw error;
    }
  } finally {
    over.abort();
    await parentGone;
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(undefined);
    } else {
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    }
  });
}
