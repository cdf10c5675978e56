import { writeMemoryClaim } from "../../claims/memory-claim.ts";
import { createControlServer } from "../../control/control-server.ts";
import { playLoad } from "../../engine/load-script.ts";
import type { RendezvousOutcome, ShardGroup } from "../../engine/rendezvous.ts";
import { joinGroup } from "../../engine/rendezvous.ts";
import { aborted } from "../../engine/termination.ts";
import { closeNow, createHttpServer, httpRoutes, listen } from "../../http/http-server.ts";
import { type AssembledEngine, assembleEngine } from "./assemble.ts";
import type { Dialect } from "./dialect.ts";
import type { FailureTail } from "./failure-tail.ts";
import type { ProcessPorts, RunEnd } from "./process-ports.ts";
import type { ServeSettings } from "./serve-settings.ts";

/** torch's own default for its store. */
const RENDEZVOUS_TIMEOUT_MS = 600_000;

/** Behaves like one serving process of an engine from its first log line to its exit, and says how it ends. */
export async function runServing(dialect: Dialect, settings: ServeSettings, ports: ProcessPorts): Promise<RunEnd> {
  const log = dialect.createLog(ports);
  dialect.announce(settings, log);
  const refusal = dialect.configurationFailure(settings);
  if (refusal !== undefined) {
    log.failure(refusal);
    return { kind: "exit", code: 1 };
  }

  const crash = (code: number) => {
    log.failure(dialect.runtimeCrash());
    ports.exitNow(code);
  };
  const engine = assembleEngine({ dialect, settings, log, ports, crash: () => crash(1) });
  const { faults } = engine.state;
  ports.onTerminationRequest(() => engine.termination.request());
  if (settings.sim.claim !== undefined) {
    const { directory, gpuUuids, mibPerGpu } = settings.sim.claim;
    ports.onExit(writeMemoryClaim(directory, { pid: ports.pid, gpuUuids, mibPerGpu }));
  }
  if (faults.find("double-fork") !== undefined) {
    ports.forkStray(settings.sim.claim);
  }
  const control = createControlServer({
    ...engine.controls,
    crash: (how) => ("signal" in how ? ports.killSelf(how.signal) : crash(how.code)),
  });
  if (settings.sim.controlPort !== undefined) {
    const outcome = await listen(control, settings.sim.controlPort, "127.0.0.1");
    if (outcome.kind !== "listening") {
      ports.stderr(
        `engine-sim: the control port ${settings.sim.controlPort} on 127.0.0.1 cannot be used: ${outcome.kind}\n`,
      );
      return { kind: "exit", code: 1 };
    }
    log.info("APIServer", "control.ts", `Simulator control on http://127.0.0.1:${outcome.port}`);
  }
  const end = await serve(engine, ports);
  engine.state.engine.destroy();
  await closeNow(control);
  return end;
}

async function serve(engine: AssembledEngine, ports: ProcessPorts): Promise<RunEnd> {
  const { dialect, settings, log } = engine.state;
  const failed = (tail: FailureTail): RunEnd => {
    log.failure(tail);
    return { kind: "exit", code: 1 };
  };
  // The port is taken before anything is loaded, so a busy one fails in the first seconds.
  if (!settings.nodes.headless && !(await portIsFree(settings))) {
    return failed(dialect.listenFailure(ADDRESS_IN_USE));
  }
  let group: ShardGroup | undefined;
  if (settings.nodes.count > 1) {
    const { count: nodes, rank, masterAddress: address, masterPort: port } = settings.nodes;
    const timeoutMs = RENDEZVOUS_TIMEOUT_MS / engine.clock.factor();
    const joined = await joinGroup({ nodes, rank, address, port, timeoutMs }, engine.termination.signal);
    if (joined.kind !== "joined") {
      if (joined.kind === "stopped") {
        return { kind: "signal", signal: "SIGTERM" };
      }
      return failed(joinFailure(joined, { dialect, settings }));
    }
    group = joined.group;
    const { peerLost } = group;
    peerLost.addEventListener("abort", () => {
      if (!engine.termination.signal.aborted) {
        log.failure(dialect.rendezvousFailure("peer-lost", rank));
        ports.exitNow(1);
      }
    });
  }
  try {
    return (await load(engine)) ?? (await (settings.nodes.rank > 0 ? follow : answer)(engine, failed));
  } finally {
    group?.leave();
  }
}

const ADDRESS_IN_USE = "[Errno 98] Address already in use";

/** How a start ends early; undefined when the engine is up. */
async function load({ state, clock, termination }: AssembledEngine): Promise<RunEnd | undefined> {
  const { dialect, settings, log, faults } = state;
  const stages = dialect.loadStages(settings, log);
  const half = stages.findIndex((stage) => stage.stallsHere === true);
  const parts = { clock, faults, loadMs: settings.sim.loadMs };
  const crash = faults.find("crash-at-start");
  const beforeCrash = crash?.cause === "model-not-found" ? 0 : half;
  await playLoad(stages.slice(0, crash === undefined ? half : beforeCrash), parts, termination.signal);
  if (crash !== undefined && !termination.signal.aborted) {
    log.failure(dialect.startFailure(crash.cause, settings.model));
    return { kind: "exit", code: crash.code };
  }
  await playLoad(stages.slice(half), parts, termination.signal);
  if (termination.signal.aborted) {
    return { kind: "signal", signal: "SIGTERM" };
  }
  const tooSmall = dialect.cacheFailure(settings);
  if (tooSmall !== undefined) {
    log.failure(tooSmall);
    return { kind: "exit", code: 1 };
  }
  return undefined;
}

type Failed = (tail: FailureTail) => RunEnd;

/** Another rank of a replica that spans machines: rank 0 answers for it. */
async function follow({ state, termination }: AssembledEngine, failed: Failed): Promise<RunEnd> {
  const { dialect, settings } = state;
  const server = dialect.createFollowerServer(state);
  if (server !== null) {
    const outcome = await listen(server, settings.port, settings.host);
    if (outcome.kind !== "listening") {
      return failed(dialect.listenFailure(outcome.kind === "failed" ? outcome.error.message : ADDRESS_IN_USE));
    }
  }
  await aborted(termination.signal);
  if (server !== null) {
    await closeNow(server);
  }
  return { kind: "exit", code: 0 };
}

async function answer({ state, termination }: AssembledEngine, failed: Failed): Promise<RunEnd> {
  const { dialect, settings, log } = state;
  const server = dialect.createApiServer(state);
  const outcome = await listen(server, settings.port, settings.host);
  if (outcome.kind !== "listening") {
    return failed(dialect.listenFailure(outcome.kind === "failed" ? outcome.error.message : ADDRESS_IN_USE));
  }
  await dialect.afterListen(state, outcome.port, termination.signal);
  const stopStats = settings.logStats ? dialect.logStats(state) : () => undefined;
  await aborted(termination.signal);
  stopStats();
  await dialect.shutDown(server, state);
  log.uvicorn("Finished server process");
  return { kind: "exit", code: 0 };
}

async function portIsFree(settings: ServeSettings): Promise<boolean> {
  const probe = createHttpServer(httpRoutes([]), {
    admit: () => false,
    notFound: () => undefined,
    methodNotAllowed: () => undefined,
    failed: () => undefined,
  });
  const outcome = await listen(probe, settings.port, settings.host);
  if (outcome.kind === "listening") {
    await closeNow(probe);
  }
  return outcome.kind !== "address_in_use";
}

function joinFailure(
  outcome: Exclude<RendezvousOutcome, { kind: "joined" | "stopped" }>,
  { dialect, settings }: { readonly dialect: Dialect; readonly settings: ServeSettings },
): FailureTail {
  const { count, masterAddress, masterPort } = settings.nodes;
  switch (outcome.kind) {
    case "timeout":
      return dialect.rendezvousFailure("timeout", `${outcome.joined + 1}/${count}`);
    case "unreachable":
      return dialect.rendezvousFailure("unreachable", `${masterAddress}, ${masterPort}`);
    case "address_in_use":
      return dialect.rendezvousFailure("address-in-use", masterPort);
  }
}
