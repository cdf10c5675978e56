import type { Server } from "node:http";
import { createServingServer, type ServingRoute } from "../openai/api-server.ts";
import { transcribe } from "../openai/audio.ts";
import { embeddings, rerank } from "../openai/embeddings.ts";
import { chatCompletions, completions, messages, responses } from "../openai/generation-endpoints.ts";
import type { ServerState } from "../openai/server-state.ts";
import { health, load, metrics, models, tokenize, version } from "./info-endpoints.ts";

const ROUTES: readonly ServingRoute[] = [
  ["GET", "/health", health],
  ["GET", "/ping", health],
  ["POST", "/ping", health],
  ["GET", "/load", load],
  ["GET", "/version", version],
  ["GET", "/metrics", metrics],
  ["GET", "/v1/models", models],
  ["POST", "/tokenize", tokenize],
  ["POST", "/v1/chat/completions", chatCompletions],
  ["POST", "/v1/completions", completions],
  ["POST", "/v1/responses", responses],
  ["POST", "/v1/messages", messages],
  ["POST", "/v1/embeddings", embeddings],
  ["POST", "/rerank", rerank],
  ["POST", "/v1/rerank", rerank],
  ["POST", "/v2/rerank", rerank],
  ["POST", "/v1/audio/transcriptions", transcribe],
  ["POST", "/v1/audio/translations", transcribe],
];

/** vLLM's HTTP surface on a server that does not listen yet. */
export function createApiServer(state: ServerState): Server {
  state.log.info("APIServer", "launcher.py:38", "Available routes are:");
  for (const [method, path] of ROUTES) {
    state.log.info("APIServer", "launcher.py:46", `Route: ${path}, Methods: ${method}`);
  }
  return createServingServer(state, ROUTES);
}
