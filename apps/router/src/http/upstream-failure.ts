import type { DispatchEnd } from "@llmgw/domain";

export type UpstreamFailureKind =
  | "refused"
  | "connect"
  | "reset"
  | "died"
  | "first_byte"
  | "idle"
  | "progress"
  | "auth"
  | "bad_answer"
  | "local"
  | "shutdown";

/** What went wrong with an engine. The message is for people, without addresses: clients see it. */
export interface UpstreamFailure {
  readonly kind: UpstreamFailureKind;
  readonly message: string;
  readonly isTimeout: boolean;
}

const TIMEOUTS: ReadonlySet<UpstreamFailureKind> = new Set(["first_byte", "idle", "progress"]);

export function upstreamFailure(kind: UpstreamFailureKind, message: string): UpstreamFailure {
  return { kind, message, isTimeout: TIMEOUTS.has(kind) };
}

/** What a failure says about the engine: our own key, our own end and our own lack of sockets are not its fault. */
export function blameOf({ kind }: UpstreamFailure): DispatchEnd {
  const isOurs = kind === "auth" || kind === "shutdown" || kind === "local";
  return isOurs ? { kind: "neutral" } : { kind: "failure", evidence: null };
}

/** This machine has no socket or port left to reach anybody with. */
const LOCAL_CODES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "EADDRNOTAVAIL", "ENOBUFS", "ENOMEM"]);

/** Network errors before a connection stood, by their code. */
const CONNECT_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** What an error of undici or of the socket means. `isBeforeHead`: nothing of an answer had arrived. */
export function transportFailure(error: Error, isBeforeHead: boolean): UpstreamFailure {
  const code = "code" in error ? String(error.code) : "";
  if (LOCAL_CODES.has(code)) return upstreamFailure("local", `the router has no socket left (${code})`);
  if (CONNECT_CODES.has(code)) return upstreamFailure("refused", "the engine cannot be reached");
  if (code === "UND_ERR_CONNECT_TIMEOUT")
    return upstreamFailure("connect", "the engine does not answer the connection");
  if (code.startsWith("HPE_") || code === "UND_ERR_HEADERS_OVERFLOW" || code.startsWith("UND_ERR_RES")) {
    return upstreamFailure("bad_answer", "the engine's answer is not valid HTTP");
  }
  if (isBeforeHead) return upstreamFailure("reset", "the engine closed the connection without an answer");
  return upstreamFailure("died", "the engine closed the connection in the middle of its answer");
}
