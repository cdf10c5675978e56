import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ConfigError } from "@llmgw/service";
import type { DatabaseLog } from "../database-log.ts";
import { removeEmbeddedPostgres, startEmbeddedPostgres } from "../embedded-postgres/index.ts";

const prefix = "llmgw-test-postgres-";

/** A database server of its own for one test run. */
export interface TestServer extends AsyncDisposable {
  /** A role on it that may make databases. */
  readonly url: string;
}

/** Starts a server with data in the temporary folder; disposing it stops it and deletes them. */
export async function startTestServer(log: DatabaseLog): Promise<TestServer> {
  const signal = new AbortController().signal;
  await removeLeftovers(log, signal);
  const dataDir = await mkdtemp(path.join(tmpdir(), prefix));
  const server = await startEmbeddedPostgres({ dataDir, log, signal, durable: false });
  return {
    url: server.url,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await removeEmbeddedPostgres({ dataDir, log, signal });
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Servers and data of test runs that were killed. Those of runs under way are held by them and stay. */
async function removeLeftovers(log: DatabaseLog, signal: AbortSignal): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (name.startsWith(prefix)) {
      const dataDir = path.join(tmpdir(), name);
      try {
        await removeEmbeddedPostgres({ dataDir, log, signal });
        await rm(dataDir, { recursive: true, force: true });
      } catch (error) {
        if (!(error instanceof ConfigError || isForbidden(error))) {
          throw error;
        }
      }
    }
  }
}

/** Another user's test run. */
function isForbidden(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");
}
