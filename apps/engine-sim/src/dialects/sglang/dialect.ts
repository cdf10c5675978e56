import { sleep } from "../../engine/load-script.ts";
import { closeNow, createHttpServer, httpRoutes, sendJson } from "../../http/http-server.ts";
import { createServingServer } from "../openai/api-server.ts";
import type { Dialect } from "../openai/dialect.ts";
import { embeddings, rerank } from "../openai/embeddings.ts";
import { chatCompletions, completions, messages, responses } from "../openai/generation-endpoints.ts";
import type { ServerState } from "../openai/server-state.ts";
import { schedulerTail, sglangRendezvousFailure, sglangStartFailure } from "./failure-tails.ts";
import { health, loads, metrics, modelInfo, models, SGLANG_VERSION, serverInfo } from "./info-endpoints.ts";
import { sglangLoadStages } from "./load-stages.ts";
import { createSglangLog } from "./log.ts";
import { sglangConfigurationError } from "./settings.ts";

/** Part of the load time between the open port and "ready to roll", in which health says 503. */
const WARMUP_SHARE = 0.05;
/** How often it looks whether it may leave after SIGTERM (managers/tokenizer_manager.py). */
const DRAIN_LOOK_MS = 5_000;

/** SGLang's words and ways. It answers whatever model a request names, and after SIGTERM waits without a bound. */
export const sglangDialect: Dialect = {
  createLog: createSglangLog,
  announce({ model, servedNames, host, port, maxModelLen, tensorParallelSize, nodes }, log) {
    const args = `model_path='${model}', served_model_name='${servedNames[0]}', host='${host}', port=${port}, tp_size=${tensorParallelSize}, context_length=${maxModelLen}, nnodes=${nodes.count}, node_rank=${nodes.rank}`;
    log.info("APIServer", "", `SGLang ${SGLANG_VERSION} (simulated)`);
    log.info("APIServer", "", `server_args=ServerArgs(${args})`);
    log.info("EngineCore", "", "Init torch distributed begin.");
  },
  configurationFailure(settings) {
    const refusal = sglangConfigurationError(settings);
    return refusal === undefined ? undefined : schedulerTail(refusal);
  },
  cacheFailure({ kvBlocks, blockSize, maxModelLen }) {
    // It cuts requests to what fits instead of refusing to start, unless there is nothing at all.
    return kvBlocks * blockSize > 0 && maxModelLen > 0
      ? undefined
      : schedulerTail("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.");
  },
  loadStages: sglangLoadStages,
  startFailure: sglangStartFailure,
  rendezvousFailure: sglangRendezvousFailure,
  runtimeCrash: () => schedulerTail("torch.AcceleratorError: CUDA error: an illegal memory access was encountered"),
  listenFailure: (message) => [{ source: "APIServer", lines: [`ERROR:    ${message}`] }],
  createApiServer: (state) =>
    createServingServer(state, [
      ["GET", "/health", health],
      ["GET", "/health_generate", health],
      ["GET", "/ping", health],
      ["GET", "/v1/models", models],
      ["GET", "/v1/loads", loads],
      ["GET", "/server_info", serverInfo],
      ["GET", "/get_server_info", serverInfo],
      ["GET", "/model_info", modelInfo],
      ["GET", "/get_model_info", modelInfo],
      ["GET", "/metrics", metrics],
      ["POST", "/v1/chat/completions", chatCompletions],
      ["POST", "/v1/completions", completions],
      ["POST", "/v1/responses", responses],
      ["POST", "/v1/messages", messages],
      ["POST", "/v1/embeddings", embeddings],
      ["POST", "/v1/rerank", rerank],
    ]),
  createFollowerServer: () =>
    // It says 200 whatever the model does: no proof of anything.
    createHttpServer(httpRoutes([["GET", "/health", ({ response }) => void response.end()]]), {
      admit: () => true,
      notFound: ({ response }) => sendJson(response, 404, { detail: "Not Found" }),
      methodNotAllowed: ({ response }) => sendJson(response, 405, { detail: "Method Not Allowed" }),
      failed: ({ response }) => void response.destroy(),
    }),
  async afterListen(state, port, signal) {
    const { log, settings, clock } = state;
    log.uvicorn(`Uvicorn running on http://${settings.host}:${port} (Press CTRL+C to quit)`);
    await sleep((WARMUP_SHARE * settings.sim.loadMs) / clock.factor(), signal);
    state.starting = false;
    log.info("APIServer", "", "The server is fired up and ready to roll!");
  },
  async shutDown(server, state) {
    state.draining = true;
    for (let left = state.engine.unfinished(); left > 0; left = state.engine.unfinished()) {
      state.log.info("APIServer", "", `Gracefully exiting... Remaining number of requests ${left}.`);
      await state.engine.idle(AbortSignal.timeout(DRAIN_LOOK_MS));
    }
    state.engine.destroy();
    await closeNow(server);
  },
  logStats: logDecodeBatches,
  errorBody: ({ status, message, type, param }) => ({ object: "error", message, type, param, code: status }),
  checksModelNames: false,
};

function logDecodeBatches({ scheduler, kv, settings, log }: ServerState): () => void {
  const timer = setInterval(() => {
    const running = scheduler.runningCount();
    if (running === 0) {
      return;
    }
    const tokens = kv.usedBlocks() * settings.blockSize;
    const usage = kv.usageRatio().toFixed(2);
    const queue = scheduler.waitingCount();
    log.info(
      "EngineCore",
      "",
      `Decode batch, #running-req: ${running}, #token: ${tokens}, token usage: ${usage}, cuda graph: True, #queue-req: ${queue}`,
    );
  }, 10_000);
  timer.unref();
  return () => clearInterval(timer);
}
