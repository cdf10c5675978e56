import { backoffMs, type Clock, type Logger, type RunGroupPart } from "@llmgw/service";
import { type AgentReport, type AgentSyncAnswer, syncProtocol } from "@llmgw/wire";
import type { Machine } from "../machine.ts";
import { pause } from "../supervise/repeat.ts";
import type { AgentState } from "../supervise/shard-state.ts";
import type { AdminClient, Answered } from "./admin-client.ts";
import type { Identity } from "./identity.ts";
import type { LogRequest } from "./log-answers.ts";

/** The node behind the loop. */
interface SyncedNode {
  readonly state: () => AgentState;
  readonly report: () => Omit<AgentReport, "logs">;
  readonly exitedIds: () => readonly string[];
  readonly apply: (answer: AgentSyncAnswer, reportedExited: readonly string[]) => Promise<void>;
  readonly answerLogs: (wish: LogRequest) => Promise<AgentReport["logs"][number]>;
}

/** How this agent comes by, keeps and gives up its identity. */
interface IdentityKeeper {
  readonly load: () => Promise<Identity | null>;
  readonly save: (identity: Identity) => Promise<void>;
  readonly joinToken: string | null;
  readonly name: string;
  readonly simulated: boolean;
}

export interface SyncLoopOptions {
  readonly client: AdminClient;
  readonly node: SyncedNode;
  readonly identity: IdentityKeeper;
  readonly machine: Machine;
  /** New with each agent process. */
  readonly session: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly retry: { readonly baseMs: number; readonly maxMs: number };
  readonly random: () => number;
}

/** How the link to the admin is, for `/health` and metrics. */
export interface SyncStatus {
  readonly nodeId: string | null;
  /** Monotonic; null before the first answer. */
  readonly answeredAtMs: number | null;
  /** What went wrong last; null while all is well. */
  readonly problem: string | null;
  readonly failures: number;
}

/**
 * The agent's link to the control plane: joins once, then polls for ever. News ends a running poll and sends the next
 * one at once. Without an admin everything else on the node goes on, and this tries again, slower and slower.
 */
export class SyncLoop implements RunGroupPart {
  readonly name = "sync";
  readonly #options: SyncLoopOptions;
  #status: SyncStatus = { nodeId: null, answeredAtMs: null, problem: null, failures: 0 };
  /** Aborted by news; a new one for each poll and the pause after it. */
  #news = new AbortController();
  #logs: AgentReport["logs"] = [];

  constructor(options: SyncLoopOptions) {
    this.#options = options;
  }

  get status(): SyncStatus {
    return this.#status;
  }

  /** There is news: report it now. */
  wake(): void {
    this.#news.abort(newsReason);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { identity, log } = this.#options;
    let own = await identity.load();
    if (own !== null) this.#status = { ...this.#status, nodeId: own.nodeId };
    while (!signal.aborted) {
      if (own === null) {
        own = await this.#join(signal);
        continue;
      }
      const outcome = await this.#poll(own, signal);
      if (outcome === "refused" && identity.joinToken !== null) {
        log.info("joining again, since this node's credential is refused");
        own = (await this.#join(signal)) ?? own;
      }
    }
  }

  /** One attempt to join; null after waiting when it failed. */
  async #join(signal: AbortSignal): Promise<Identity | null> {
    const { client, identity, machine, log } = this.#options;
    const { joinToken, name, simulated } = identity;
    if (joinToken === null) {
      await this.#failed("this node has not joined: set LLMGW_JOIN_TOKEN to a join token of the cluster", signal);
      return null;
    }
    const answer = await client.join(joinToken, { name, ...machine, simulated }, signal);
    if (answer.kind !== "ok") {
      await this.#failed(explain("joining", answer), signal);
      return null;
    }
    const { clusterId } = this.#options.node.state().desired;
    if (clusterId !== null && clusterId !== answer.value.clusterId) {
      const found = `the admin is of cluster ${answer.value.clusterId}, this node runs shards of ${clusterId}`;
      await this.#failed(
        `joining: ${found}; to change clusters, stop its engines and give it an empty data folder`,
        signal,
      );
      return null;
    }
    await identity.save(answer.value);
    log.info({ nodeId: answer.value.nodeId, clusterId: answer.value.clusterId }, "joined the cluster");
    this.#status = { ...this.#status, nodeId: answer.value.nodeId };
    return answer.value;
  }

  async #poll(own: Identity, signal: AbortSignal): Promise<"ok" | "refused" | "failed"> {
    const { client, node, machine, session, clock, log } = this.#options;
    this.#news = new AbortController();
    const news = this.#news.signal;
    const { desired } = node.state();
    const reportedExited = node.exitedIds();
    const sentLogs = this.#logs;
    const body = {
      protocol: syncProtocol,
      machineId: machine.machineId,
      bootId: machine.bootId,
      session,
      clusterId: desired.clusterId ?? own.clusterId,
      appliedVersion: desired.version,
      report: { ...node.report(), logs: sentLogs },
    } as const;
    let answer: Answered<AgentSyncAnswer>;
    try {
      answer = await client.sync(own.credential, body, AbortSignal.any([signal, news]));
    } catch (error) {
      // Ended by news, or by the agent's own end: the next poll, if any, says everything anew.
      if (signal.aborted || news.aborted) return "ok";
      throw error;
    }
    if (answer.kind !== "ok") {
      await this.#failed(explain("syncing", answer), signal);
      return answer.kind === "refused" ? "refused" : "failed";
    }
    if (this.#status.problem !== null) log.info("the admin answers");
    this.#status = { nodeId: own.nodeId, answeredAtMs: clock.monotonicMs(), problem: null, failures: 0 };
    this.#logs = this.#logs.filter((sent) => !sentLogs.includes(sent));
    await this.#carryOut(answer.value, { reportedExited, appliedVersion: desired.version, news }, signal);
    return "ok";
  }

  async #carryOut(
    answer: AgentSyncAnswer,
    poll: { reportedExited: readonly string[]; appliedVersion: number; news: AbortSignal },
    signal: AbortSignal,
  ): Promise<void> {
    const { node, clock, log } = this.#options;
    await node.apply(answer, poll.reportedExited);
    const { hold, desired } = node.state();
    if (hold !== null) log.error({ hold }, "the admin's answer is not applied");
    else if (answer.kind === "desired") {
      for (const wish of answer.logs) this.#logs = [...this.#logs, await node.answerLogs(wish)];
    }
    // The next poll is the acknowledgement of a new version, and carries the log lines that were asked for.
    const hasNews = desired.version > poll.appliedVersion || this.#logs.length > 0;
    if (hasNews || signal.aborted) return;
    await pause(clock, Math.max(answer.pollAfterMs, shortestPauseMs), AbortSignal.any([signal, poll.news]));
  }

  async #failed(problem: string, signal: AbortSignal): Promise<void> {
    const { clock, log, retry, random } = this.#options;
    const { failures } = this.#status;
    const waitMs = backoffMs({ attempt: failures, ...retry, random });
    // Said once when it begins or changes, not at every try of a long outage.
    if (problem === this.#status.problem) log.debug({ problem, waitMs }, "still no luck with the admin");
    else log.warn({ problem, waitMs }, "trying again; engines run on");
    this.#status = { ...this.#status, problem, failures: failures + 1 };
    await pause(clock, waitMs, signal);
  }
}

const newsReason = new Error("there is news to report");
/** An admin that answers at once, again and again, must not make the node spin. */
const shortestPauseMs = 50;

function explain(doing: string, answer: Exclude<Answered<unknown>, { kind: "ok" }>): string {
  if (answer.kind === "unavailable") return `${doing}: ${answer.message}`;
  return `${doing} is refused (${answer.status}): ${answer.message}`;
}
