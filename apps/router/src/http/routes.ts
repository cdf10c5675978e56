import type { Dialect } from "./dialect.ts";

/** One path of the inference API. */
export interface InferenceApi {
  readonly dialect: Dialect;
  /** How the request's body says which model it wants. */
  readonly body: "json" | "form";
  /** Its event streams tell what they used only when `stream_options` asks for it. */
  readonly tellsUsageWhenAsked: boolean;
}

/** What a request's method and path ask for. */
export type Route =
  | { readonly kind: "inference"; readonly api: InferenceApi }
  | { readonly kind: "models" }
  | { readonly kind: "model"; readonly encodedId: string }
  | { readonly kind: "healthz" }
  /** A browser asks what it may send to a path that exists. */
  | { readonly kind: "preflight"; readonly allow: string }
  | { readonly kind: "unknown" }
  | { readonly kind: "wrong_method"; readonly allow: string };

const completions: InferenceApi = { dialect: "openai", body: "json", tellsUsageWhenAsked: true };
const openAi: InferenceApi = { dialect: "openai", body: "json", tellsUsageWhenAsked: false };
const openAiForm: InferenceApi = { dialect: "openai", body: "form", tellsUsageWhenAsked: false };

const INFERENCE_APIS: ReadonlyMap<string, InferenceApi> = new Map([
  ["/v1/chat/completions", completions],
  ["/v1/completions", completions],
  ["/v1/embeddings", openAi],
  ["/v1/responses", { dialect: "responses", body: "json", tellsUsageWhenAsked: false }],
  ["/v1/messages", { dialect: "anthropic", body: "json", tellsUsageWhenAsked: false }],
  ["/v1/rerank", openAi],
  ["/rerank", openAi],
  ["/v1/score", openAi],
  ["/v1/audio/transcriptions", openAiForm],
  ["/v1/audio/translations", openAiForm],
  ["/v1/audio/speech", openAi],
  ["/v1/images/generations", openAi],
]);
const MODELS_PATH = "/v1/models";
const READ = "GET, HEAD";

/** Every path that is served, compared as it was sent: nothing is normalised, and nothing else reaches an engine. */
export function routeOf(method: string, target: string): Route {
  const at = target.indexOf("?");
  const path = at === -1 ? target : target.slice(0, at);
  const api = INFERENCE_APIS.get(path);
  if (api !== undefined && method === "POST") return { kind: "inference", api };
  const route = api === undefined ? readRoute(path) : null;
  if (route?.kind === "unknown") return route;
  const allow = route === null ? "POST" : READ;
  if (method === "OPTIONS") return { kind: "preflight", allow };
  if (route !== null && (method === "GET" || method === "HEAD")) return route;
  return { kind: "wrong_method", allow };
}

/** In which dialect the path of a target wants its errors. */
export function dialectOf(target: string): Dialect {
  const [path = ""] = target.split("?", 1);
  return INFERENCE_APIS.get(path)?.dialect ?? "openai";
}

function readRoute(path: string): Route {
  if (path === MODELS_PATH) return { kind: "models" };
  if (path === "/healthz") return { kind: "healthz" };
  const encodedId = path.startsWith(`${MODELS_PATH}/`) ? path.slice(MODELS_PATH.length + 1) : "";
  return encodedId === "" ? { kind: "unknown" } : { kind: "model", encodedId };
}
