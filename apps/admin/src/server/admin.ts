import { randomInt } from "node:crypto";
import { hostname } from "node:os";
import type { ControlPlane } from "@llmgw/api/server";
import { plan } from "@llmgw/domain";
import { type BuildInfo, type Clock, type Logger, newId, type RunGroupPart } from "@llmgw/service";
import { AuditKeeper } from "./control/audit-keeper.ts";
import { ControlLoop } from "./control/loop/control-loop.ts";
import { LoopLease } from "./control/loop/loop-lease.ts";
import type { AdminSettings } from "./control/settings.ts";
import { AgentIntake } from "./control/sync/agent-intake.ts";
import { AgentSync } from "./control/sync/agent-sync.ts";
import { Attention } from "./control/sync/attention.ts";
import { DesiredStates } from "./control/sync/desired.ts";
import { LogRequests } from "./control/sync/log-requests.ts";
import { RouterSync } from "./control/sync/router-sync.ts";
import { VersionWatch } from "./control/sync/versions.ts";
import { UsageKeeper } from "./control/usage-keeper.ts";
import { createControlPlane } from "./control/use-cases/control-plane.ts";
import { pruneAudit } from "./db/audit-chain/prune.ts";
import { sealAudit } from "./db/audit-chain/seal.ts";
import { type ClusterIdentity, readVersions, rememberReported } from "./db/cluster-row.ts";
import { commitAction } from "./db/commit/commit-action.ts";
import type { Database } from "./db/database.ts";
import { findGpuHolders, readGpus, saveGpus } from "./db/gpu-store.ts";
import { acquireLease, releaseLease } from "./db/lease.ts";
import { listenForChanges } from "./db/listen.ts";
import { logRequestStore } from "./db/log-request-store.ts";
import { claimNode } from "./db/node-identity.ts";
import { saveNodeReports } from "./db/node-reports.ts";
import { readKeys } from "./db/read-keys.ts";
import { readSnapshot } from "./db/read-snapshot.ts";
import { countLiveRouters, saveRouterReports } from "./db/router-reports.ts";
import { pruneUsage } from "./db/usage-store.ts";
import { readWorld } from "./db/world.ts";
import { type AdminMetrics, createMetrics } from "./metrics.ts";

/** Hours of usage are kept so long. */
const USAGE_KEEP_MS = 400 * 24 * 3_600_000;

export interface AdminOptions {
  readonly database: Database;
  readonly databaseDirectUrl: string;
  readonly cluster: ClusterIdentity;
  readonly settings: AdminSettings;
  readonly build: BuildInfo;
  readonly routerUrl: string | null;
  /** How long rows of the audit are kept, ms; null: for ever. */
  readonly auditKeepMs: number | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The control plane of one admin process without its listener. */
export interface Admin {
  readonly control: ControlPlane;
  readonly metrics: AdminMetrics;
  readonly versions: VersionWatch;
  /** What has to run beside it. */
  readonly parts: readonly RunGroupPart[];
}

/** Puts the parts of the control plane together. Nothing runs yet. */
export async function createAdmin(options: AdminOptions): Promise<Admin> {
  const { database, cluster, settings, auditKeepMs, clock, log } = options;
  const { control } = settings;
  const versions = new VersionWatch({
    read: () => readVersions(database),
    initial: await readVersions(database),
    clock,
    log,
  });
  const attention = new Attention(clock);
  const logs = new LogRequests({ store: logRequestStore(database), clock, log, lookMs: settings.versionReadMs });
  const desired = new DesiredStates({
    read: async () => ({ snapshot: await readSnapshot(database, 0), keys: await readKeys(database) }),
    cluster,
  });
  const remember = (version: number) => rememberReported(database, version);
  const intake = createIntake(options, () => loop.poke());
  const agents = new AgentSync({
    ...{ cluster, intake, versions, desired, logs, attention, settings, clock, log },
    rememberReported: remember,
    onSync: () => metrics.countSync("agent"),
  });
  const routers = new RouterSync({
    ...{ cluster, versions, desired, attention, settings, clock, log },
    rememberReported: remember,
    onSync: () => metrics.countSync("router"),
    countRouters: () => countLiveRouters(database, control.routerLeaseMs),
    save: async (rows, { urgent }) => {
      await saveRouterReports(database, rows, { urgent });
      if (urgent) loop.poke();
    },
  });

  const lease = createLease(options, () => loop.poke());
  const metrics = createMetrics({
    snapshot: async () => (await readWorld(database)).snapshot,
    settings: control,
    leaseHeld: () => lease.held !== null,
    held: () => versions.held,
  });
  const loop = new ControlLoop({
    lease: () => lease.held,
    onFenced: () => lease.lost(),
    isHeld: () => versions.held,
    read: (controlSinceMs) => readSnapshot(database, controlSinceMs),
    plan: (snapshot) => plan({ snapshot, settings: control, ids: { replicaSuffix } }),
    commit: (action, held) => commitAction({ database, settings: control }, action, held),
    onCommitted: () => void versions.refresh(),
    observe: metrics.observePass,
    everyMs: settings.passEveryMs,
    clock,
    log,
  });
  const keeper = new AuditKeeper({
    lease: () => lease.held,
    seal: (held) => sealAudit(database, held),
    prune: async (held) => (auditKeepMs === null ? 0 : await pruneAudit(database, held, auditKeepMs)),
    sealEveryMs: settings.auditSealEveryMs,
    pruneEveryMs: settings.auditPruneEveryMs,
    clock,
    log,
  });
  const usageKeeper = new UsageKeeper({
    isLeader: () => lease.held !== null,
    prune: () => pruneUsage(database, new Date(clock.nowMs() - USAGE_KEEP_MS)),
    clock,
    log,
  });
  const onChanged = () => {
    void versions.refresh();
    loop.poke();
  };
  const { build, routerUrl } = options;
  const useCases = { database, cluster, settings, attention, logs, onChanged, build, routerUrl, clock };
  const controlPlane = createControlPlane(useCases, {
    agents,
    routers,
  });
  const times = { everyMs: settings.batchEveryMs, soonMs: settings.flushAfterMs };
  const listening = {
    databaseUrl: options.databaseDirectUrl,
    onVersion: () => void versions.refresh(),
    onReport: () => loop.poke(),
    clock,
    log,
  };
  return {
    control: controlPlane,
    metrics,
    versions,
    parts: [
      { name: "versions", run: (signal) => versions.run(settings.versionReadMs, signal) },
      { name: "changes", run: (signal) => listenForChanges(listening, signal) },
      { name: "log requests", run: (signal) => logs.run(signal) },
      { name: "agents' reports", run: (signal) => intake.run(times, signal) },
      { name: "routers' reports", run: (signal) => routers.run(times, signal) },
      { name: "lease", run: (signal) => lease.run(settings.leaseRenewMs, signal) },
      { name: "control loop", run: (signal) => loop.run(signal) },
      { name: "audit", run: (signal) => keeper.run(signal) },
      { name: "usage", run: (signal) => usageKeeper.run(signal) },
    ],
  };
}

function createIntake({ database, settings, clock, log }: AdminOptions, onUrgent: () => void): AgentIntake {
  const { suspectAfterMs, lostAfterMs } = settings.control;
  return new AgentIntake({
    store: {
      claim: (claim) => claimNode(database, { ...claim, silentAfterMs: suspectAfterMs }),
      readGpus: (nodeId) => readGpus(database, nodeId),
      findGpuHolders: (uuids) => findGpuHolders(database, uuids),
      saveReports: async (rows, { urgent }) => {
        const saved = await saveNodeReports(database, rows, { urgent, suspectAfterMs });
        if (urgent) onUrgent();
        return saved;
      },
      saveGpus: (gpus) => saveGpus(database, gpus),
    },
    lostAfterMs,
    clock,
    log,
  });
}

function createLease({ database, settings, clock, log }: AdminOptions, onTaken: () => void): LoopLease {
  const holder = `${hostname()}/${process.pid}/${newId("admin")}`;
  const { leaseMs } = settings;
  return new LoopLease({
    store: {
      acquire: () => acquireLease(database, { holder, leaseMs }),
      release: (fence) => releaseLease(database, fence),
    },
    leaseMs,
    onTaken,
    clock,
    log,
  });
}

const SUFFIX_LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

/** Five letters of a-z2-7. The database refuses one that was given before, and the next pass takes another. */
function replicaSuffix(): string {
  return Array.from({ length: 5 }, () => SUFFIX_LETTERS.charAt(randomInt(SUFFIX_LETTERS.length))).join("");
}
