import type { Server } from "node:http";
import type { LoadStage } from "../../engine/load-script.ts";
import type { CrashCause } from "../../faults/fault.ts";
import type { EngineLog, LogParts } from "./engine-log.ts";
import type { ServeError } from "./errors.ts";
import type { FailureTail } from "./failure-tail.ts";
import type { ServeSettings } from "./serve-settings.ts";
import type { ServerState } from "./server-state.ts";

/** Why the processes of a replica that spans machines do not come together, or come apart. */
export type RendezvousProblem = "timeout" | "unreachable" | "address-in-use" | "peer-lost";

/** What tells one engine with an OpenAI-like API from another: its words, its order of starting, its way to stop. */
export interface Dialect {
  createLog(parts: LogParts): EngineLog;
  /** First lines of a process. */
  announce(settings: ServeSettings, log: EngineLog): void;
  /** Refusals before a GPU is touched, and after the weights are loaded; undefined when it goes on. */
  configurationFailure(settings: ServeSettings): FailureTail | undefined;
  cacheFailure(settings: ServeSettings): FailureTail | undefined;
  loadStages(settings: ServeSettings, log: EngineLog): LoadStage[];
  startFailure(cause: CrashCause, model: string): FailureTail;
  rendezvousFailure(problem: RendezvousProblem, detail: string | number): FailureTail;
  runtimeCrash(): FailureTail;
  listenFailure(message: string): FailureTail;
  /** The HTTP surface of rank 0, not listening yet. */
  createApiServer(state: ServerState): Server;
  /** What another rank listens with; null where it has no listener. */
  createFollowerServer(state: ServerState): Server | null;
  /** The last lines of a start, once the port is open. Ends when the engine calls itself ready. */
  afterListen(state: ServerState, port: number, signal: AbortSignal): Promise<void>;
  /** From SIGTERM to the moment before the exit. */
  shutDown(server: Server, state: ServerState): Promise<void>;
  /** The periodic line about its work. Returns what stops it. */
  logStats(state: ServerState): () => void;
  errorBody(error: ServeError): unknown;
  /** Some engines answer whatever model a request names. */
  readonly checksModelNames: boolean;
}
