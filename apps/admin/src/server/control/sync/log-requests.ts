import { type Clock, newId } from "@llmgw/service";
import type { AgentReport, AgentSyncAnswer } from "@llmgw/wire";

type LogRequest = Extract<AgentSyncAnswer, { kind: "desired" }>["logs"][number];
type LogAnswer = AgentReport["logs"][number];

interface Pending {
  readonly request: LogRequest;
  readonly nodeId: string;
  sent: boolean;
  readonly settle: (answer: LogAnswer) => void;
}

/** Asks agents for log lines through the answers to their polls. */
export class LogRequests {
  readonly #clock: Clock;
  readonly #pending = new Map<string, Pending>();
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The shard's log lines; null when its agent did not answer within `timeoutMs`. */
  async ask(
    nodeId: string,
    wanted: Omit<LogRequest, "requestId">,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<LogAnswer | null> {
    const requestId = newId("log");
    const answered = new AbortController();
    let answer: LogAnswer | null = null;
    this.#pending.set(requestId, {
      request: { requestId, ...wanted },
      nodeId,
      sent: false,
      settle: (found) => {
        answer = found;
        answered.abort();
      },
    });
    for (const wake of [...this.#waiting]) wake();
    try {
      await this.#clock.sleep(timeoutMs, AbortSignal.any([signal, answered.signal]));
    } catch (error) {
      if (!answered.signal.aborted) throw error;
    } finally {
      this.#pending.delete(requestId);
    }
    return answer;
  }

  /** Takes the answers that came with a report. */
  settle(answers: readonly LogAnswer[]): void {
    for (const answer of answers) this.#pending.get(answer.requestId)?.settle(answer);
  }

  hasNew(nodeId: string): boolean {
    return [...this.#pending.values()].some((one) => one.nodeId === nodeId && !one.sent);
  }

  /** The requests to send to a node now. Each is sent once: an agent that leaves owes nothing. */
  take(nodeId: string): LogRequest[] {
    const due = [...this.#pending.values()].filter((one) => one.nodeId === nodeId && !one.sent);
    for (const one of due) one.sent = true;
    return due.map((one) => one.request);
  }

  onNew(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }
}
