import { backoffMs, type Clock, type Logger } from "@llmgw/service";
import { type EndpointTable, type RouterSyncAnswer, syncProtocol } from "@llmgw/wire";
import type { AdminClient } from "./admin-client.ts";
import type { Registry } from "./registry.ts";
import { type RouterFacts, routerReport, urgentFacts } from "./router-report.ts";
import type { TableStore } from "./table-store.ts";

export interface AdminSyncOptions {
  readonly client: Pick<AdminClient, "sync" | "url">;
  readonly registry: Registry;
  readonly store: Pick<TableStore, "read" | "write" | "confirm" | "confirmedAtMs">;
  /** So long keys are believed without a word from an admin. */
  readonly keysMaxAgeMs: number;
  /** The router's own id, kept over restarts. */
  readonly routerId: string;
  /** New with each process. */
  readonly session: string;
  readonly facts: () => RouterFacts;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

/** How the link to the admin is, for `/health`. */
export interface SyncStatus {
  readonly appliedVersion: number;
  readonly clusterId: string | null;
  /** Where the table in force came from. */
  readonly source: "none" | "disk" | "admin";
  /** What went wrong last; null while all is well. */
  readonly problem: string | null;
}

/** An admin holds a poll for 5 s; one without an answer long after that is lost. */
const SYNC_TIMEOUT_MS = 15_000;
/** While an endpoint drains its count is reported this often. */
const DRAIN_REPORT_MS = 1_000;
/** Between two polls, so that several pieces of news go in one report, and an admin that answers at once is not flooded. */
const SPACING_MS = 50;
/** How often the facts that are news are compared with those of the last report. */
const NEWS_LOOK_MS = 50;
const RETRY = { baseMs: 250, maxMs: 5_000 };
const CONFIRM_MS = 60_000;
const GOODBYE_TIMEOUT_MS = 2_000;

/** Why a poll was ended by ourselves. */
const newsReason = new Error("there is news for the admin");

/**
 * The router's link to the admin. It polls for ever and lays each newer table over the registry. News ends a running poll
 * and sends the next at once; so does an applied table, and that next poll is its acknowledgement. Without an admin the
 * router goes on with the table it has.
 */
export class AdminSync {
  readonly #options: AdminSyncOptions;
  #status: SyncStatus = { appliedVersion: 0, clusterId: null, source: "none", problem: null };
  /** Aborted by news; a new one for each poll and the pause after it. */
  #news = new AbortController();
  #reported = "";
  #failures = 0;
  /** When that was last noted on disk. */
  #confirmedAtMs = 0;

  constructor(options: AdminSyncOptions) {
    this.#options = options;
  }

  get status(): SyncStatus {
    return this.#status;
  }

  /** Serves from the table on disk, if there is a good one, until the admin says otherwise. */
  async restore(): Promise<void> {
    const { store, registry, log, keysMaxAgeMs } = this.#options;
    const file = await store.read();
    if (file.kind === "invalid") {
      log.warn({ problem: file.problem }, "the last table on disk cannot be used; waiting for the admin's");
    }
    if (file.kind !== "ok") return;
    const { clusterId, version } = file.value;
    registry.apply(file.value);
    registry.keysValidUntilMs = ((await store.confirmedAtMs()) ?? 0) + keysMaxAgeMs;
    this.#status = { ...this.#status, appliedVersion: version, clusterId, source: "disk" };
    log.info({ clusterId, version }, "serving from the last known table");
  }

  async run(signal: AbortSignal): Promise<void> {
    const watching = this.#watchNews(signal);
    while (!signal.aborted) {
      this.#news = new AbortController();
      await this.#poll(signal, this.#news.signal);
    }
    await watching;
  }

  /** Tells the admin that nothing is in flight here any more and nothing will be sent. One try: its lease ends anyway. */
  async sayGoodbye(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    const answered = await client.sync({ ...this.#request(), leaving: true }, GOODBYE_TIMEOUT_MS, signal);
    if (answered.kind === "failed") log.warn({ problem: answered.problem }, "the admin did not hear the goodbye");
  }

  #request() {
    const { registry, routerId, session, facts, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#reported = urgentFacts(registry, nowMs);
    return {
      protocol: syncProtocol,
      id: routerId,
      session,
      clusterId: this.#status.clusterId,
      appliedVersion: this.#status.appliedVersion,
      leaving: false,
      report: routerReport(registry, facts(), nowMs),
    } as const;
  }

  async #poll(signal: AbortSignal, news: AbortSignal): Promise<void> {
    const { client, clock, random, log } = this.#options;
    const either = AbortSignal.any([signal, news]);
    try {
      const answered = await client.sync(this.#request(), SYNC_TIMEOUT_MS, either);
      if (answered.kind === "failed") {
        this.#failed(answered.problem);
        // Not cut short by news: whoever could hear it does not answer.
        await clock.sleep(backoffMs({ attempt: this.#failures - 1, ...RETRY, random }), signal);
        return;
      }
      if (this.#failures > 0) log.info("the admin answers");
      this.#failures = 0;
      const pauseMs = await this.#take(answered.answer);
      if (pauseMs === null) return;
      await clock.sleep(pauseMs, either);
    } catch (error) {
      if (!either.aborted) throw error;
    }
    if (!signal.aborted) await untilAborted(clock.sleep(SPACING_MS, signal), signal);
  }

  /** How long to wait before the next poll, in ms; null after a new table: the next poll acknowledges it at once. */
  async #take(answer: RouterSyncAnswer): Promise<number | null> {
    const { log, registry } = this.#options;
    const refusal = this.#refusal(answer);
    this.#status = { ...this.#status, problem: refusal };
    if (refusal !== null) {
      log.error({ problem: refusal }, "the admin's answer is not applied");
      return RETRY.maxMs;
    }
    registry.shareKeyLimits(answer.routers);
    if (answer.kind === "unchanged" || answer.version === this.#status.appliedVersion) {
      this.#status = { ...this.#status, clusterId: answer.clusterId };
      await this.#confirmKeys();
      return answer.pollAfterMs;
    }
    await this.#apply(answer.table);
    await this.#confirmKeys();
    return null;
  }

  #refusal(answer: RouterSyncAnswer): string | null {
    const { clusterId, appliedVersion } = this.#status;
    if (clusterId !== null && answer.clusterId !== clusterId) {
      return `the admin belongs to cluster ${answer.clusterId}, and this router to ${clusterId}: it keeps its table. Point LLMGW_ADMIN_URL at the right admin, or give this router an empty data folder`;
    }
    if (answer.version < appliedVersion) {
      return `the admin is at version ${answer.version}, and this router's table is of version ${appliedVersion}: it keeps its table. Was the database restored from a backup?`;
    }
    return null;
  }

  async #apply(table: EndpointTable): Promise<void> {
    const { registry, store, log } = this.#options;
    const { clusterId, version } = table;
    registry.apply(table);
    this.#status = { appliedVersion: version, clusterId, source: "admin", problem: null };
    log.info({ version, models: table.models.length, keys: table.keys.length }, "a new table is in force");
    try {
      await store.write(table);
    } catch (error) {
      log.error({ error }, "the table cannot be kept on disk: a start without the admin would use an older one");
    }
  }

  /** The admin has just said that the keys are the right ones. On disk too, now and then, for a start without it. */
  async #confirmKeys(): Promise<void> {
    const { registry, store, clock, keysMaxAgeMs, log } = this.#options;
    if (registry.table === null) return;
    const nowMs = clock.nowMs();
    registry.keysValidUntilMs = nowMs + keysMaxAgeMs;
    if (nowMs - this.#confirmedAtMs < CONFIRM_MS) return;
    this.#confirmedAtMs = nowMs;
    try {
      await store.confirm(nowMs);
    } catch (error) {
      log.warn(
        { error },
        "the age of the keys cannot be kept on disk: a start without the admin would refuse them sooner",
      );
    }
  }

  #failed(problem: string): void {
    this.#failures += 1;
    if (problem !== this.#status.problem) this.#options.log.warn({ problem }, "the admin does not answer");
    this.#status = { ...this.#status, problem };
  }

  /** Ends the running poll when there is something that the admin wants to know at once. */
  async #watchNews(signal: AbortSignal): Promise<void> {
    const { clock, registry } = this.#options;
    let drainReportedAtMs = clock.monotonicMs();
    while (!signal.aborted) {
      await untilAborted(clock.sleep(NEWS_LOOK_MS, signal), signal);
      const nowMs = clock.monotonicMs();
      const drains = registry.endpoints.some(({ state, inflight }) => state === "draining" && inflight > 0);
      const isDrainDue = drains && nowMs - drainReportedAtMs >= DRAIN_REPORT_MS;
      if (!isDrainDue && urgentFacts(registry, nowMs) === this.#reported) continue;
      drainReportedAtMs = nowMs;
      this.#news.abort(newsReason);
    }
  }
}

async function untilAborted(sleep: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await sleep;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
