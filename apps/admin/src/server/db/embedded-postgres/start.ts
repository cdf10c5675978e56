import { ConfigError, type HeldDirectory, holdDirectory, systemClock } from "@llmgw/service";
import type { DatabaseLog } from "../database-log.ts";
import { waitUntil } from "../wait-until.ts";
import { chooseAccount, type ServerAccount } from "./account.ts";
import { hasData, makeCluster, superuser } from "./cluster.ts";
import { clearEarlierServer } from "./earlier-server.ts";
import { removeLeftovers } from "./leftovers.ts";
import { locatePostgresPackage } from "./package.ts";
import { findPlaces, type PostgresPlaces } from "./places.ts";
import { busyPortError, choosePort, loopback } from "./port.ts";
import { endedError, type RunningProgram } from "./programs.ts";
import { appDatabase, appRole, makeRoleAndDatabase } from "./roles.ts";
import { keepSecrets, type PostgresSecrets } from "./secrets.ts";
import { launchServer, stopServer } from "./server.ts";
import { prepareSoftware } from "./software.ts";

/** A PostgreSQL server that runs as a child of this process. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** Address of llmgw's own database, password included: not for logs. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Settles when the server process has ended without `stop`, with the error that says how. */
  readonly died: Promise<Error>;
  /** Ends sessions, writes a checkpoint, stops the server. Does nothing the second time. */
  readonly stop: () => Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** The llmgw data folder (`LLMGW_DATA_DIR`); the server's things lie in `postgres` below it. */
  readonly dataDir: string;
  /** TCP port on 127.0.0.1; undefined: the one of the last start if it is free, else any free one. */
  readonly port?: number | undefined;
  readonly log: DatabaseLog;
  /** Aborts the start. A server that has started is stopped by `stop`. */
  readonly signal: AbortSignal;
  /** How long another llmgw that is just stopping may take to let the data go, ms. */
  readonly holdTimeoutMs?: number;
  /** false gives up crash safety for speed: for tests only. */
  readonly durable?: boolean;
}

const attempts = 20;
const retryMs = 500;

/**
 * Starts the embedded PostgreSQL: makes its data on the first start, stops a server that a killed llmgw left on the
 * same data, runs as another account when this is root, listens on 127.0.0.1 only with a generated password.
 * @throws DatabaseError with a message for people: port busy, already running, folder unusable, initdb failed.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, signal } = options;
  signal.throwIfAborted();
  const places = await findPlaces({ llmgwDataDir: options.dataDir, log });
  const held = await hold(places.settingsDir, options);
  try {
    return await startHeld(options, places, held);
  } catch (error) {
    await held.release();
    throw error;
  }
}

async function startHeld(
  options: EmbeddedPostgresOptions,
  places: PostgresPlaces,
  held: HeldDirectory,
): Promise<EmbeddedPostgres> {
  const { log, signal } = options;
  const account = await chooseAccount({ dataOwner: places.dataOwner, log });
  const nativeDir = await prepareSoftware({
    source: locatePostgresPackage(),
    stageBelow: places.softwareDir,
    inPlace: account.kind === "self",
    log,
  });
  await clearEarlierServer({ dataDir: places.dataDir, log, signal });
  await removeLeftovers({ temporaryClusters: places.temporaryClusters, log, signal });
  const secrets = await keepSecrets(places.settingsDir, { dataExist: await hasData(places.dataDir) });
  // Before initdb, so that a busy port is told at once.
  await choosePort({ wanted: options.port, settingsDir: places.settingsDir });
  await makeCluster({ places, nativeDir, account, superuserPassword: secrets.superuserPassword, log, signal });
  const { program, port } = await launch({ ...options, places, account, nativeDir, secrets });
  try {
    await makeRoleAndDatabase(superuserUrl(secrets, port), secrets.password);
  } catch (error) {
    await stopServer(program);
    throw error;
  }
  return handle(program, held, {
    port,
    url: `postgresql://${appRole}:${secrets.password}@${loopback}:${port}/${appDatabase}`,
  });
}

interface Launch extends EmbeddedPostgresOptions {
  readonly places: PostgresPlaces;
  readonly account: ServerAccount;
  readonly nativeDir: string;
  readonly secrets: PostgresSecrets;
}

async function launch(options: Launch): Promise<{ program: RunningProgram; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort({ wanted: options.port, settingsDir: options.places.settingsDir });
    const outcome = await launchServer({
      nativeDir: options.nativeDir,
      dataDir: options.places.dataDir,
      account: options.account,
      port,
      durable: options.durable ?? true,
      url: superuserUrl(options.secrets, port),
      log: options.log,
      signal: options.signal,
    });
    if (outcome.kind === "ready") {
      return { program: outcome.program, port };
    }
    if (outcome.kind === "failed") {
      throw outcome.error;
    }
    if (outcome.kind === "port_busy" && (options.port !== undefined || attempt >= attempts)) {
      throw busyPortError(port);
    }
    if (outcome.kind === "remnants" && attempt >= attempts) {
      throw outcome.error;
    }
    await systemClock.sleep(retryMs, options.signal);
  }
}

function superuserUrl(secrets: PostgresSecrets, port: number): string {
  return `postgresql://${superuser}:${secrets.superuserPassword}@${loopback}:${port}/postgres`;
}

/** Holds the settings folder, so that one llmgw at a time looks after the data. */
async function hold(settingsDir: string, options: EmbeddedPostgresOptions): Promise<HeldDirectory> {
  const { holdTimeoutMs = 10_000, signal } = options;
  let held: HeldDirectory | undefined;
  let refusal: ConfigError | undefined;
  await waitUntil(
    async () => {
      try {
        held = await holdDirectory(settingsDir);
      } catch (error) {
        if (!(error instanceof ConfigError)) {
          throw error;
        }
        refusal = error;
      }
      return held !== undefined;
    },
    { timeoutMs: holdTimeoutMs, intervalMs: 200, signal },
  );
  if (held === undefined) {
    throw refusal ?? new Error(`${settingsDir} was neither held nor refused`);
  }
  return held;
}

function handle(
  program: RunningProgram,
  held: HeldDirectory,
  at: { readonly port: number; readonly url: string },
): EmbeddedPostgres {
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopServer(program).then(() => held.release());
    return stopping;
  };
  const died = new Promise<Error>((resolve) => {
    void program.ended.then((end) => {
      if (stopping === undefined) {
        resolve(endedError("The embedded database ended by itself", end, program.lastLines()));
      }
    });
  });
  // It has accepted connections, so it has a process id.
  const pid = program.child.pid ?? 0;
  return { ...at, pid, died, stop, [Symbol.asyncDispose]: stop };
}
