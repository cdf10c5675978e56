import type { Health } from "@llmgw/service";
import type { WorkerShare } from "./worker-share.ts";

/** What the process that watches over workers says to one. */
export type ToWorker =
  /** Which worker it is: the answer to its first question. */
  { readonly llmgw: "share"; readonly share: WorkerShare } | { readonly llmgw: "endpoints?"; readonly id: number };

/** What a worker says. */
export type FromWorker =
  | { readonly llmgw: "share?" }
  | { readonly llmgw: "health"; readonly health: Health }
  | { readonly llmgw: "endpoints"; readonly id: number; readonly page: unknown };

/** True for a message of ours: Node's cluster and the metrics library use the same channel. */
export function isOurs<Message extends { readonly llmgw: string }>(message: unknown): message is Message {
  return typeof message === "object" && message !== null && "llmgw" in message && typeof message.llmgw === "string";
}
