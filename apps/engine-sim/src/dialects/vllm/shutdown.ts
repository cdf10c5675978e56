import type { Server } from "node:http";
import { sleep } from "../../engine/load-script.ts";
import { closeNow } from "../../http/http-server.ts";
import type { ServerState } from "../openai/server-state.ts";

/** Time for last bytes to leave before connections are cut. */
const FLUSH_MS = 200;

/**
 * What vLLM (0.18 and later) does on SIGTERM: with `--shutdown-timeout 0` in-flight requests end at once with
 * `finish_reason: "abort"`; with N they may finish for N seconds while new ones get 503. The HTTP server listens, and
 * `/health` says 200, until the engine has stopped.
 */
export async function shutDown(server: Server, state: ServerState): Promise<void> {
  const { log, engine, settings } = state;
  const seconds = settings.shutdownTimeoutSeconds;
  const mode = seconds === 0 ? "abort" : "drain";
  const say = (message: string) => log.info("APIServer", "launcher.py:127", `[shutdown] API server: ${message}`);
  say("shutdown triggered");
  state.draining = true;
  say(`stopping engine client mode=${mode} timeout=${seconds}s`);
  if (seconds > 0) {
    await engine.idle(AbortSignal.timeout(seconds * 1000));
  }
  const left = engine.unfinished();
  if (left > 0) {
    log.info("EngineCore", "core.py:901", `[shutdown] EngineCore: aborting in-flight requests count=${left}`);
    engine.abortAll();
  }
  engine.destroy();
  say("engine client stopped");
  say("signalling HTTP server shutdown");
  log.uvicorn("Shutting down");
  await flushAndClose(server);
  log.uvicorn("Waiting for application shutdown.");
  log.uvicorn("Application shutdown complete.");
}

async function flushAndClose(server: Server): Promise<void> {
  const closed = new AbortController();
  server.close(() => closed.abort());
  server.closeIdleConnections();
  await sleep(FLUSH_MS, closed.signal);
  if (!closed.signal.aborted) {
    await closeNow(server);
  }
}
