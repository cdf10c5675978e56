import type { Server } from "node:http";
import { writeMemoryClaim } from "../../claims/memory-claim.ts";
import { createControlServer } from "../../control/control-server.ts";
import { playLoad } from "../../engine/load-script.ts";
import type { RendezvousOutcome, ShardGroup } from "../../engine/rendezvous.ts";
import { joinGroup } from "../../engine/rendezvous.ts";
import { aborted } from "../../engine/termination.ts";
import { closeNow, createHttpServer, httpRoutes, listen } from "../../http/http-server.ts";
import { createApiServer } from "./api-server.ts";
import { createVllmEngine, type VllmEngine } from "./assemble.ts";
import {
  addressInUseTail,
  configurationTail,
  engineStartTail,
  type FailureTail,
  listenTail,
  rendezvousTail,
  runtimeCrashTail,
  startFailureTail,
} from "./failure-tails.ts";
import { VLLM_VERSION } from "./info-endpoints.ts";
import { loadStages } from "./load-stages.ts";
import { createVllmLog } from "./log.ts";
import type { ProcessPorts, RunEnd } from "./process-ports.ts";
import { configurationError, kvCacheError, type VllmSettings } from "./settings.ts";
import { shutDown } from "./shutdown.ts";
import { logStatsPeriodically } from "./stats-line.ts";

/** torch's own default for its store. */
const RENDEZVOUS_TIMEOUT_MS = 600_000;

/** Behaves like one `vllm serve` process from its first log line to its exit, and says how it ends. */
export async function runVllm(settings: VllmSettings, ports: ProcessPorts): Promise<RunEnd> {
  const log = createVllmLog(ports);
  log.info("APIServer", "utils.py:233", `vLLM API server version ${VLLM_VERSION} (simulated)`);
  log.info("APIServer", "utils.py:233", `non-default args: ${JSON.stringify(publicArguments(settings))}`);
  const refusal = configurationError(settings);
  if (refusal !== undefined) {
    log.failure(configurationTail(refusal));
    return { kind: "exit", code: 1 };
  }

  const crash = (code: number) => {
    log.failure(runtimeCrashTail());
    ports.exitNow(code);
  };
  const vllm = createVllmEngine({ settings, log, ports, crash: () => crash(1) });
  ports.onTerminationRequest(() => vllm.termination.request());
  if (settings.sim.claim !== undefined) {
    const { directory, gpuUuids, mibPerGpu } = settings.sim.claim;
    ports.onExit(writeMemoryClaim(directory, { pid: ports.pid, gpuUuids, mibPerGpu }));
  }
  const control = createControlServer({
    ...vllm.controls,
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
  const end = await serve(vllm, ports);
  vllm.state.engine.destroy();
  await closeNow(control);
  return end;
}

async function serve(vllm: VllmEngine, ports: ProcessPorts): Promise<RunEnd> {
  const { settings, log } = vllm.state;
  const failed = (tail: FailureTail): RunEnd => {
    log.failure(tail);
    return { kind: "exit", code: 1 };
  };
  // vLLM takes its port before it loads anything, so a busy one fails in the first seconds.
  if (!settings.nodes.headless && !(await portIsFree(settings))) {
    return failed(addressInUseTail());
  }
  let group: ShardGroup | undefined;
  if (settings.nodes.count > 1) {
    const { count: nodes, rank, masterAddress: address, masterPort: port } = settings.nodes;
    const timeoutMs = RENDEZVOUS_TIMEOUT_MS / vllm.clock.factor();
    const joined = await joinGroup({ nodes, rank, address, port, timeoutMs }, vllm.termination.signal);
    if (joined.kind !== "joined") {
      return joined.kind === "stopped" ? { kind: "signal", signal: "SIGTERM" } : failed(joinFailure(joined, settings));
    }
    group = joined.group;
    const { peerLost } = group;
    peerLost.addEventListener("abort", () => {
      if (!vllm.termination.signal.aborted) {
        log.failure(rendezvousTail("peer-lost", rank));
        ports.exitNow(1);
      }
    });
  }
  try {
    return (await load(vllm)) ?? (settings.nodes.headless ? await follow(vllm) : await answer(vllm, failed));
  } finally {
    group?.leave();
  }
}

/** How a start ends early; undefined when the engine is up. */
async function load({ state, clock, termination }: VllmEngine): Promise<RunEnd | undefined> {
  const { settings, log, faults } = state;
  const stages = loadStages(settings, log);
  const half = stages.findIndex((stage) => stage.stallsHere === true);
  const parts = { clock, faults, loadMs: settings.sim.loadMs };
  const crash = faults.find("crash-at-start");
  const beforeCrash = crash?.cause === "model-not-found" ? 0 : half;
  await playLoad(stages.slice(0, crash === undefined ? half : beforeCrash), parts, termination.signal);
  if (crash !== undefined && !termination.signal.aborted) {
    log.failure(startFailureTail(crash.cause, settings.model));
    return { kind: "exit", code: crash.code };
  }
  await playLoad(stages.slice(half), parts, termination.signal);
  if (termination.signal.aborted) {
    return { kind: "signal", signal: "SIGTERM" };
  }
  const tooSmall = kvCacheError(settings);
  if (tooSmall !== undefined) {
    log.failure(engineStartTail(tooSmall));
    return { kind: "exit", code: 1 };
  }
  return undefined;
}

/** A follower of a multi-node replica: no HTTP, it only lives. */
async function follow({ termination }: VllmEngine): Promise<RunEnd> {
  await aborted(termination.signal);
  return { kind: "exit", code: 0 };
}

async function answer({ state, termination }: VllmEngine, failed: (tail: FailureTail) => RunEnd): Promise<RunEnd> {
  const { settings, log } = state;
  const server: Server = createApiServer(state);
  const outcome = await listen(server, settings.port, settings.host);
  if (outcome.kind === "address_in_use") {
    return failed(addressInUseTail());
  }
  if (outcome.kind === "failed") {
    return failed(listenTail(outcome.error.message));
  }
  log.info(
    "APIServer",
    "api_server.py:634",
    `Starting vLLM server on http://${settings.host ?? "0.0.0.0"}:${outcome.port}`,
  );
  log.uvicorn("Started server process");
  log.uvicorn("Waiting for application startup.");
  log.uvicorn("Application startup complete.");
  const stopStats = settings.logStats ? logStatsPeriodically(state) : () => undefined;
  await aborted(termination.signal);
  stopStats();
  await shutDown(server, state);
  log.uvicorn("Finished server process");
  return { kind: "exit", code: 0 };
}

async function portIsFree(settings: VllmSettings): Promise<boolean> {
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
  settings: VllmSettings,
): FailureTail {
  const { count, masterAddress, masterPort } = settings.nodes;
  switch (outcome.kind) {
    case "timeout":
      return rendezvousTail("timeout", `${outcome.joined + 1}/${count}`);
    case "unreachable":
      return rendezvousTail("unreachable", `${masterAddress}, ${masterPort}`);
    case "address_in_use":
      return rendezvousTail("address-in-use", masterPort);
  }
}

/** What vLLM prints of its arguments; keys never. */
function publicArguments({ model, servedNames, host, port, maxModelLen, tensorParallelSize }: VllmSettings) {
  return {
    model_tag: model,
    served_model_name: servedNames,
    host,
    port,
    max_model_len: maxModelLen,
    tensorParallelSize,
  };
}
