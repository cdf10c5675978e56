import { type Actor, done, type Outcome, refused } from "@llmgw/api/server";
import type { Clock, Logger } from "@llmgw/service";
import { type RouterSyncAnswer, type RouterSyncRequest, syncProtocol } from "@llmgw/wire";
import type { ClusterIdentity } from "../../db/cluster-row.ts";
import type { RouterReportRow } from "../../db/router-reports.ts";
import type { AdminSettings } from "../settings.ts";
import type { Attention } from "./attention.ts";
import { ReportBatch } from "./batch.ts";
import type { DesiredStates } from "./desired.ts";
import { holdPoll } from "./hold.ts";
import { meetReporter } from "./meet-reporter.ts";
import { routerSummary } from "./significance.ts";
import type { VersionWatch } from "./versions.ts";

export interface RouterSyncOptions {
  readonly cluster: ClusterIdentity;
  readonly save: (rows: readonly RouterReportRow[], options: { urgent: boolean }) => Promise<void>;
  readonly versions: VersionWatch;
  readonly desired: DesiredStates;
  readonly attention: Attention;
  readonly rememberReported: (version: number) => Promise<void>;
  readonly onSync: () => void;
  /** How many routers are live by the database. */
  readonly countRouters: () => Promise<number>;
  readonly settings: AdminSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

const COUNT_EVERY_MS = 1_000;

interface Pending extends RouterReportRow {
  readonly urgent: boolean;
}

/** The routers' long poll: takes the report in, then answers the endpoint table, at once or when it changes. */
export class RouterSync {
  readonly #options: RouterSyncOptions;
  readonly #batch: ReportBatch<Pending>;
  readonly #sessions = new Map<string, { session: string; summary: string }>();
  readonly #superseded = new Set<string>();
  #routers = 1;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RouterSyncOptions) {
    this.#options = options;
    this.#batch = new ReportBatch({
      save: (rows) => options.save(rows, { urgent: rows.some((row) => row.urgent) }),
      merge: (older, newer) => ({ ...newer, urgent: older.urgent || newer.urgent }),
      clock: options.clock,
      log: options.log,
    });
  }

  run(times: { readonly everyMs: number; readonly soonMs: number }, signal: AbortSignal): Promise<void> {
    return this.#batch.run(times, signal);
  }

  async sync(request: RouterSyncRequest, _actor: Actor, signal: AbortSignal): Promise<Outcome<RouterSyncAnswer>> {
    const { cluster, versions, desired, attention, settings, clock } = this.#options;
    this.#options.onSync();
    const met = await meetReporter(request, { ...this.#options, name: `router ${request.report.name}` });
    if (met.kind === "foreign") return refused({ kind: "conflict", message: met.message });
    if (this.#superseded.has(request.session)) {
      const message = `another process of router ${request.id} has taken over; end this one, or give it a data folder of its own.`;
      return refused({ kind: "conflict", message });
    }
    this.#takeIn(request);
    const unchanged: RouterSyncAnswer = {
      kind: "unchanged",
      protocol: syncProtocol,
      clusterId: cluster.id,
      version: request.appliedVersion,
      routers: await this.#liveRouters(),
      pollAfterMs: 0,
    };
    if (request.leaving) return done(unchanged);
    const due = await holdPoll({
      isDue: () => !versions.held && versions.version > request.appliedVersion,
      sources: [(wake) => versions.onChange(wake)],
      holdMs: attention.watched || desired.last?.drainIsOpen === true ? settings.holdWhileWatchedMs : settings.holdMs,
      clock,
      signal,
    });
    return done(due ? ((await this.#answer()) ?? unchanged) : unchanged);
  }

  /** Asked of the database once a second at most, whatever the number of routers; with it away, as it was last. */
  async #liveRouters(): Promise<number> {
    const { countRouters, clock, log } = this.#options;
    if (clock.monotonicMs() - this.#countedAtMs >= COUNT_EVERY_MS) {
      this.#countedAtMs = clock.monotonicMs();
      try {
        this.#routers = Math.max(1, await countRouters());
      } catch (error) {
        log.warn({ error }, "the live routers cannot be counted; limits of keys are shared as before");
      }
    }
    return this.#routers;
  }

  #takeIn(request: RouterSyncRequest): void {
    const { id, session, appliedVersion, leaving, report } = request;
    const { desired, log } = this.#options;
    const draining = desired.last?.draining;
    const summary = routerSummary(request, (replicaId) => draining?.has(replicaId) === true);
    const known = this.#sessions.get(id);
    if (known?.session !== session) {
      if (known !== undefined) this.#superseded.add(known.session);
      log.info({ router: report.name, id, session }, "a router reports");
    }
    const urgent = known?.session !== session || known.summary !== summary;
    this.#sessions.set(id, { session, summary });
    this.#batch.add(id, { id, session, appliedVersion, leaving, report, urgent });
  }

  async #answer(): Promise<RouterSyncAnswer | null> {
    const { cluster, desired, versions, log, settings } = this.#options;
    try {
      const state = await desired.at(versions.version);
      return {
        kind: "table",
        protocol: syncProtocol,
        clusterId: cluster.id,
        version: state.version,
        routers: await this.#liveRouters(),
        table: state.table,
        pollAfterMs: settings.flushAfterMs,
      };
    } catch (error) {
      log.warn({ error }, "the endpoint table cannot be read; this router keeps the one it has");
      return null;
    }
  }
}
