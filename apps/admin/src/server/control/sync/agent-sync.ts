import { type Actor, done, type Outcome, refused } from "@llmgw/api/server";
import type { Clock, Logger } from "@llmgw/service";
import { type AgentSyncAnswer, type AgentSyncRequest, syncProtocol } from "@llmgw/wire";
import type { ClusterIdentity } from "../../db/cluster-row.ts";
import type { AdminSettings } from "../settings.ts";
import { holderWords } from "../words.ts";
import type { AgentIntake } from "./agent-intake.ts";
import type { Attention } from "./attention.ts";
import { type DesiredStates, desiredOfNode } from "./desired.ts";
import { holdPoll } from "./hold.ts";
import type { LogRequests } from "./log-requests.ts";
import { meetReporter } from "./meet-reporter.ts";
import type { VersionWatch } from "./versions.ts";

export interface AgentSyncOptions {
  readonly cluster: ClusterIdentity;
  readonly intake: AgentIntake;
  readonly versions: VersionWatch;
  readonly desired: DesiredStates;
  readonly logs: LogRequests;
  readonly attention: Attention;
  readonly rememberReported: (version: number) => Promise<void>;
  readonly onSync: () => void;
  readonly settings: AdminSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What became of a report. `taken` also where the database is away: it will come again. */
type TakenIn =
  | { readonly kind: "taken" }
  | { readonly kind: "removed" }
  | { readonly kind: "refused"; readonly message: string };

/** The agents' long poll: takes the report in, then answers what the node is to do, at once or when that changes. */
export class AgentSync {
  readonly #options: AgentSyncOptions;
  /** Session → what it was last told to run and stop. */
  readonly #told = new Map<string, { readonly session: string; readonly text: string }>();

  constructor(options: AgentSyncOptions) {
    this.#options = options;
  }

  async sync(request: AgentSyncRequest, actor: Actor, signal: AbortSignal): Promise<Outcome<AgentSyncAnswer>> {
    const { cluster, logs, versions, desired, attention, settings, clock } = this.#options;
    const nodeId = actor.id;
    this.#options.onSync();
    const met = await meetReporter(request, { ...this.#options, name: actor.name });
    if (met.kind === "foreign") return refused({ kind: "conflict", message: met.message });
    const taken = await this.#takeIn(nodeId, request, actor.name);
    if (taken.kind === "removed") return this.#answerRemoved(request, actor.name);
    if (taken.kind === "refused") return refused({ kind: "conflict", message: taken.message });
    logs.settle(request.report.logs);

    const isDue = () =>
      !versions.held &&
      (versions.version > request.appliedVersion || logs.hasNew(nodeId) || this.#hasNews(nodeId, request));
    const watched = attention.watched || desired.last?.drainIsOpen === true;
    const due = await holdPoll({
      isDue,
      sources: [(wake) => versions.onChange(wake), (wake) => logs.onNew(wake)],
      holdMs: watched ? settings.holdWhileWatchedMs : settings.holdMs,
      clock,
      signal,
    });
    const unchanged: AgentSyncAnswer = {
      kind: "unchanged",
      protocol: syncProtocol,
      clusterId: cluster.id,
      version: request.appliedVersion,
      pollAfterMs: 0,
    };
    if (!due) return done(unchanged);
    return done((await this.#answer(nodeId, request)) ?? unchanged);
  }

  async #takeIn(nodeId: string, request: AgentSyncRequest, name: string): Promise<TakenIn> {
    const { intake, log } = this.#options;
    try {
      const admission = await intake.admit(nodeId, request);
      switch (admission.kind) {
        case "admitted":
          await intake.accept(nodeId, request);
          return { kind: "taken" };
        case "gone":
          return { kind: "removed" };
        case "superseded": {
          const message = `another agent process of ${name} has taken over; end this one.`;
          return { kind: "refused", message };
        }
        case "conflict": {
          const message = `the identity of ${name} is in use: ${holderWords(admission.holder)}. This is machine ${request.machineId}, boot ${request.bootId}. If this machine is a copy, remove its agent's data folder and join under another name.`;
          return { kind: "refused", message };
        }
      }
    } catch (error) {
      log.warn({ error, node: name }, "a report could not be taken in; its agent will send it again");
      return { kind: "taken" };
    }
  }

  /** A node that was removed has to stop what it still runs; after that it is sent away. */
  #answerRemoved(request: AgentSyncRequest, name: string): Outcome<AgentSyncAnswer> {
    const { cluster, versions, settings } = this.#options;
    const running = request.report.shards.filter((shard) => shard.phase !== "exited");
    if (running.length === 0 || versions.held) {
      const message = `${name} was removed from this cluster. Join again with a join token.`;
      return refused({ kind: "conflict", message });
    }
    return done({
      kind: "desired",
      protocol: syncProtocol,
      clusterId: cluster.id,
      version: Math.max(versions.version, request.appliedVersion),
      run: [],
      stop: running.map(({ replicaId, generation, rank }) => ({
        ...{ replicaId, generation, rank },
        killAfterMs: settings.stopKillAfterMs,
      })),
      logs: [],
      pollAfterMs: settings.holdWhileWatchedMs,
    });
  }

  /** What it is to do has changed with its own report: a process of an old generation turned up, for one. */
  #hasNews(nodeId: string, request: AgentSyncRequest): boolean {
    const told = this.#told.get(nodeId);
    const { last } = this.#options.desired;
    if (told === undefined || told.session !== request.session || last === null) return false;
    return this.#desiredText(nodeId, request) !== told.text;
  }

  #desiredText(nodeId: string, request: AgentSyncRequest): string {
    const { last } = this.#options.desired;
    return last === null ? "" : JSON.stringify(this.#desired(nodeId, request, last));
  }

  #desired(nodeId: string, request: AgentSyncRequest, state: NonNullable<DesiredStates["last"]>) {
    const { cluster, settings } = this.#options;
    const node = { nodeId, shards: request.report.shards };
    return desiredOfNode(state, node, { cluster, killAfterMs: settings.stopKillAfterMs });
  }

  async #answer(nodeId: string, request: AgentSyncRequest): Promise<AgentSyncAnswer | null> {
    const { cluster, desired, logs, versions, log, settings } = this.#options;
    try {
      const state = await desired.at(versions.version);
      const wanted = this.#desired(nodeId, request, state);
      this.#told.set(nodeId, { session: request.session, text: JSON.stringify(wanted) });
      return {
        kind: "desired",
        protocol: syncProtocol,
        clusterId: cluster.id,
        version: state.version,
        ...wanted,
        logs: logs.take(nodeId),
        pollAfterMs: settings.flushAfterMs,
      };
    } catch (error) {
      log.warn({ error }, "the desired state cannot be read; this agent keeps what it has");
      return null;
    }
  }
}
