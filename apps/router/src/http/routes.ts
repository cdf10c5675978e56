/** What a request's method and path ask for. */
export type Route =
  | { readonly kind: "inference" }
  | { readonly kind: "models" }
  | { readonly kind: "model"; readonly encodedId: string }
  | { readonly kind: "healthz" }
  | { readonly kind: "unknown" }
  | { readonly kind: "wrong_method"; readonly allow: string };

const INFERENCE_PATHS: ReadonlySet<string> = new Set(["/v1/chat/completions", "/v1/completions", "/v1/embeddings"]);
const MODELS_PATH = "/v1/models";

/** Every path that is served, compared as it was sent: nothing is normalised, and nothing else reaches an engine. */
export function routeOf(method: string, target: string): Route {
  const [path = ""] = target.split("?", 1);
  if (INFERENCE_PATHS.has(path)) return method === "POST" ? { kind: "inference" } : wrong("POST");
  const isRead = method === "GET" || method === "HEAD";
  const readOnly = (route: Route) => (isRead ? route : wrong("GET, HEAD"));
  if (path === MODELS_PATH) return readOnly({ kind: "models" });
  if (path === "/healthz") return readOnly({ kind: "healthz" });
  const encodedId = path.startsWith(`${MODELS_PATH}/`) ? path.slice(MODELS_PATH.length + 1) : "";
  return encodedId === "" ? { kind: "unknown" } : readOnly({ kind: "model", encodedId });
}

function wrong(allow: string): Route {
  return { kind: "wrong_method", allow };
}
