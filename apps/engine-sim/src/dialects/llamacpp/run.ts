import type { Server } from "node:http";
import { writeMemoryClaim } from "../../claims/memory-claim.ts";
import { createControlServer } from "../../control/control-server.ts";
import { createSimClock } from "../../core/clock.ts";
import { createKvCache } from "../../core/kv-cache.ts";
import { createRandom } from "../../core/random.ts";
import { createScheduler } from "../../core/scheduler.ts";
import { createEngine } from "../../engine/engine.ts";
import { createEngineStats } from "../../engine/engine-stats.ts";
import { playLoad } from "../../engine/load-script.ts";
import { createTermination } from "../../engine/termination.ts";
import { createFaultState } from "../../faults/fault-state.ts";
import { closeNow, listen } from "../../http/http-server.ts";
import type { ProcessPorts, RunEnd } from "../openai/process-ports.ts";
import { createLlamaServer } from "./api.ts";
import type { LlamaSettings } from "./arguments.ts";
import { startFailure } from "./failures.ts";
import type { LlamaState } from "./llama-state.ts";
import { createLlamaLog } from "./log.ts";
import { connectWorkers, type RpcWatch, watchWorkers } from "./rpc-head.ts";

/** Behaves like one llama-server from its first log line to its exit, and says how it ends. */
export async function runLlamaServer(settings: LlamaSettings, ports: ProcessPorts): Promise<RunEnd> {
  const log = createLlamaLog(ports.stderr, ports.monotonicMs);
  log.info("cmn  common_param", "common_params_print_info: verbosity = 3 (simulated)");
  const sockets = await connectWorkers(settings.workers);
  if ("unreachable" in sockets) {
    const { host, port } = sockets.unreachable;
    log.bare(`ggml/src/ggml-rpc/ggml-rpc.cpp:547: Failed to connect to ${host}:${port}\n`);
    return { kind: "signal", signal: "SIGABRT" };
  }
  const crash = () => {
    log.bare("CUDA error: an illegal memory access was encountered");
    ports.killSelf("SIGABRT");
  };
  const { state, faults, setFrozen } = assemble(settings, { log, ports, crash });
  if (settings.sim.claim !== undefined) {
    const { directory, gpuUuids, mibPerGpu } = settings.sim.claim;
    ports.onExit(writeMemoryClaim(directory, { pid: ports.pid, gpuUuids, mibPerGpu }));
  }
  if (faults.find("double-fork") !== undefined) ports.forkStray(settings.sim.claim);
  const watch = watchWorkers(sockets, {
    lost() {
      log.bare("ggml/src/ggml-rpc/ggml-rpc.cpp:569: Remote RPC server crashed or returned malformed response");
      ports.killSelf("SIGABRT");
    },
    frozen: setFrozen,
  });
  return await serve(state, { ports, watch });
}

function assemble(
  settings: LlamaSettings,
  { log, ports, crash }: { log: ReturnType<typeof createLlamaLog>; ports: ProcessPorts; crash: () => void },
) {
  let { latency } = settings.sim;
  let workersFrozen = false;
  const clock = createSimClock(ports.monotonicMs, settings.sim.clockFactor);
  const faults = createFaultState(settings.sim.faults);
  // Slots bound what runs; whether the cache is full is reckoned as llama.cpp does, not by this.
  const kv = createKvCache({ blocks: 1e9, blockSize: 16, prefixCaching: false });
  const scheduler = createScheduler({
    maxNumSeqs: settings.parallel,
    maxQueuedRequests: Number.POSITIVE_INFINITY,
    maxQueuedTokens: Number.POSITIVE_INFINITY,
    kv,
    latency: () => latency,
    random: createRandom(settings.sim.seed),
  });
  const stats = createEngineStats();
  const onRequestEnd = (ended: number) => {
    if (ended >= (faults.find("crash-after-requests")?.requests ?? Number.POSITIVE_INFINITY)) setImmediate(crash);
  };
  const engine = createEngine({ scheduler, clock, stats, onRequestEnd });
  const obey = () => {
    clock.setPaused(workersFrozen || faults.find("hang") !== undefined);
    engine.clockChanged();
  };
  obey();
  faults.onChange(obey);
  const state: LlamaState = {
    ...{ settings, clock, scheduler, engine, stats, faults, log, crash, wallClockMs: ports.wallClockMs },
    requests: new Map(),
    ...{ loading: true, frozen: false, generationRequests: 0, nextRequestNumber: 0, decodes: 0, predictedTokens: 0 },
    wokenAtMs: 0,
  };
  const control = createControlServer({
    clock,
    faults,
    latency: () => latency,
    setLatency: (next) => {
      latency = next;
    },
    clockChanged: () => engine.clockChanged(),
    crash: (how) => ("signal" in how ? ports.killSelf(how.signal) : ports.exitNow(how.code)),
  });
  if (settings.sim.controlPort !== undefined) {
    void listen(control, settings.sim.controlPort, "127.0.0.1").then((outcome) => {
      const where = outcome.kind === "listening" ? `on http://127.0.0.1:${outcome.port}` : "cannot listen";
      log.info("sim      control", `Simulator control ${where}`);
    });
  }
  const setFrozen = (frozen: boolean) => {
    workersFrozen = frozen;
    obey();
  };
  return { state, faults, setFrozen };
}

async function serve(
  state: LlamaState,
  { ports, watch }: { readonly ports: ProcessPorts; readonly watch: RpcWatch },
): Promise<RunEnd> {
  const { settings, log, faults, clock } = state;
  const server = createLlamaServer(state);
  const opened = await listen(server, settings.port, settings.host);
  if (opened.kind !== "listening") {
    log.error(
      "srv         start",
      `couldn't bind HTTP server socket, hostname: ${settings.host}, port: ${settings.port}`,
    );
    log.error("srv  llama_server", "exiting due to HTTP server error");
    watch.close();
    return { kind: "exit", code: 1 };
  }
  const termination = createTermination(faults);
  ports.onTerminationRequest(() => {
    if (termination.signal.aborted) {
      ports.stderr("Received second interrupt, terminating immediately.\n");
      ports.exitNow(1);
    }
    termination.request();
  });
  log.info("srv    load_model", `loading model '${settings.model}'`);
  const failed = await load(state, termination.signal);
  if (failed !== null) {
    watch.close();
    return failed;
  }
  state.loading = false;
  log.info("srv  llama_server", "model loaded");
  log.info("srv  llama_server", `listening on http://${settings.host}:${settings.port}`);
  await new Promise<void>((resolve) => termination.signal.addEventListener("abort", () => resolve(), { once: true }));
  await freeze(server, state);
  clock.setPaused(true);
  watch.close();
  return { kind: "exit", code: 0 };
}

/** How a start ends early; null when the model is loaded. */
async function load(state: LlamaState, signal: AbortSignal): Promise<RunEnd | null> {
  const { settings, log, faults, clock } = state;
  const parts = { clock, faults, loadMs: settings.sim.loadMs };
  const crash = faults.find("crash-at-start");
  await playLoad(
    [{ share: 0.5, done: () => log.info("cmn          init", "llama threadpool init, n_threads = 1") }],
    parts,
    signal,
  );
  if (crash !== undefined && !signal.aborted) {
    for (const line of startFailure(crash.cause, settings.model)) log.error(...line);
    log.error("srv  llama_server", "exiting due to model loading error");
    return { kind: "exit", code: crash.code };
  }
  const slots = `initializing, n_slots = ${settings.parallel}, n_ctx_slot = ${settings.slotContext}, kv_unified = '${settings.unified}'`;
  const rest = { share: 0.5, stallsHere: true, done: () => log.info("srv    load_model", slots) };
  await playLoad([rest], parts, signal);
  return signal.aborted ? { kind: "signal", signal: "SIGTERM" } : null;
}

/**
 * What llama-server does on SIGTERM: the port closes and generation stops at once, connections in flight stay open in
 * silence, and the process lives until the last of their clients has gone.
 */
async function freeze(server: Server, state: LlamaState): Promise<void> {
  state.log.info("srv    operator()", "operator(): cleaning up before exit...");
  state.frozen = true;
  state.engine.destroy();
  state.clock.setPaused(true);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  if (state.requests.size === 0) {
    await closeNow(server);
    return;
  }
  await closed;
}
