import { type Clock, type Logger, newId } from "@llmgw/service";
import type { AgentReport, AgentSyncAnswer } from "@llmgw/wire";
import type { LogRequestStore } from "../../db/log-request-store.ts";

type LogRequest = Extract<AgentSyncAnswer, { kind: "desired" }>["logs"][number];
type LogAnswer = AgentReport["logs"][number];

interface Pending {
  readonly request: LogRequest;
  readonly nodeId: string;
  sent: boolean;
  /** Null for a wish of another admin: its answer goes to the database. */
  readonly settle: ((answer: LogAnswer) => void) | null;
}

export interface LogRequestsOptions {
  readonly store: LogRequestStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Between looks for wishes of other admins, and for answers that came through them, ms. */
  readonly lookMs: number;
}

/**
 * Asks agents for log lines through the answers to their polls. An agent may poll another admin than the one that a
 * person asked, so a wish also stands in the database, where the admin that the agent polls finds it and leaves the
 * answer.
 */
export class LogRequests {
  readonly #options: LogRequestsOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #waiting = new Set<() => void>();

  constructor(options: LogRequestsOptions) {
    this.#options = options;
  }

  /** The shard's log lines; null when its agent did not answer within `timeoutMs`. */
  async ask(
    nodeId: string,
    wanted: Omit<LogRequest, "requestId">,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<LogAnswer | null> {
    const { store, clock } = this.#options;
    const requestId = newId("log");
    const answered = new AbortController();
    let answer: LogAnswer | null = null;
    const settle = (found: LogAnswer) => {
      answer = found;
      answered.abort();
    };
    this.#pending.set(requestId, { request: { requestId, ...wanted }, nodeId, sent: false, settle });
    for (const wake of [...this.#waiting]) wake();
    const ends = AbortSignal.any([signal, answered.signal]);
    const elsewhere = this.#awaitElsewhere({ id: requestId, nodeId, wanted }, settle, ends);
    try {
      await clock.sleep(timeoutMs, ends);
    } catch (error) {
      if (!answered.signal.aborted) throw error;
    } finally {
      answered.abort();
      this.#pending.delete(requestId);
      await elsewhere;
      await this.#quietly(() => store.remove(requestId));
    }
    return answer;
  }

  /** Takes the answers that came with a report. */
  settle(answers: readonly LogAnswer[]): void {
    for (const answer of answers) {
      const pending = this.#pending.get(answer.requestId);
      if (pending === undefined) continue;
      if (pending.settle !== null) {
        pending.settle(answer);
        continue;
      }
      this.#pending.delete(answer.requestId);
      const { requestId, lines, truncated } = answer;
      void this.#quietly(() => this.#options.store.answer(requestId, { lines, truncated }));
    }
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

  /** Looks for wishes of other admins until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { lookMs } = this.#options;
    while (!signal.aborted) {
      await this.#quietly(() => this.#look());
      await this.#pause(lookMs, signal);
    }
  }

  async #look(): Promise<void> {
    const open = await this.#options.store.open();
    const ids = new Set(open.map(({ id }) => id));
    for (const [id, { settle }] of this.#pending) if (settle === null && !ids.has(id)) this.#pending.delete(id);
    const fresh = open.filter(({ id }) => !this.#pending.has(id));
    for (const { id, nodeId, wanted } of fresh) {
      this.#pending.set(id, { request: { requestId: id, ...wanted }, nodeId, sent: false, settle: null });
    }
    if (fresh.length > 0) for (const wake of [...this.#waiting]) wake();
  }

  async #awaitElsewhere(
    wish: Parameters<LogRequestStore["add"]>[0],
    settle: (answer: LogAnswer) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, lookMs } = this.#options;
    await this.#quietly(() => store.add(wish));
    while (!signal.aborted) {
      await this.#pause(lookMs, signal);
      if (signal.aborted) return;
      const answer = await this.#quietly(() => store.answerOf(wish.id));
      if (answer != null) settle({ requestId: wish.id, ...answer });
    }
  }

  /** Without the database, wishes reach the agents that poll here, and no other. */
  async #quietly<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#options.log.debug({ error }, "a wish for log lines could not be shared");
      return undefined;
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
