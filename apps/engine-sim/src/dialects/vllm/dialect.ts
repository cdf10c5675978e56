import type { Dialect } from "../openai/dialect.ts";
import type { ServeSettings } from "../openai/serve-settings.ts";
import { createApiServer } from "./api-server.ts";
import {
  configurationTail,
  engineStartTail,
  listenTail,
  rendezvousTail,
  runtimeCrashTail,
  startFailureTail,
} from "./failure-tails.ts";
import { VLLM_VERSION } from "./info-endpoints.ts";
import { loadStages } from "./load-stages.ts";
import { createVllmLog } from "./log.ts";
import { configurationError, kvCacheError } from "./settings.ts";
import { shutDown } from "./shutdown.ts";
import { logStatsPeriodically } from "./stats-line.ts";

/** vLLM's words and ways. */
export const vllmDialect: Dialect = {
  createLog: createVllmLog,
  announce(settings, log) {
    log.info("APIServer", "utils.py:233", `vLLM API server version ${VLLM_VERSION} (simulated)`);
    log.info("APIServer", "utils.py:233", `non-default args: ${JSON.stringify(publicArguments(settings))}`);
  },
  configurationFailure(settings) {
    const refusal = configurationError(settings);
    return refusal === undefined ? undefined : configurationTail(refusal);
  },
  cacheFailure(settings) {
    const tooSmall = kvCacheError(settings);
    return tooSmall === undefined ? undefined : engineStartTail(tooSmall);
  },
  loadStages,
  startFailure: startFailureTail,
  rendezvousFailure: rendezvousTail,
  runtimeCrash: runtimeCrashTail,
  listenFailure: listenTail,
  createApiServer,
  createFollowerServer: () => null,
  async afterListen(state, port) {
    const { log, settings } = state;
    log.info("APIServer", "api_server.py:634", `Starting vLLM server on http://${settings.host ?? "0.0.0.0"}:${port}`);
    log.uvicorn("Started server process");
    log.uvicorn("Waiting for application startup.");
    state.starting = false;
    log.uvicorn("Application startup complete.");
  },
  shutDown,
  logStats: logStatsPeriodically,
  errorBody: ({ status, message, type, param }) => ({ error: { message, type, param, code: status } }),
  checksModelNames: true,
};

/** What vLLM prints of its arguments; keys never. */
function publicArguments({ model, servedNames, host, port, maxModelLen, tensorParallelSize }: ServeSettings) {
  return {
    model_tag: model,
    served_model_name: servedNames,
    host,
    port,
    max_model_len: maxModelLen,
    tensorParallelSize,
  };
}
