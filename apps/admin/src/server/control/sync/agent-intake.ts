import type { Gpu, GpuFacts } from "@llmgw/domain";
import { describeReason, reason } from "@llmgw/domain";
import type { Clock, Logger } from "@llmgw/service";
import type { AgentSyncRequest } from "@llmgw/wire";
import type { GpuHolder } from "../../db/gpu-store.ts";
import type { Claim } from "../../db/node-identity.ts";
import type { NodeReportRow } from "../../db/node-reports.ts";
import { ReportBatch } from "./batch.ts";
import { changedGpus, isSignificant, updateInventory } from "./gpu-inventory.ts";
import { agentSummary } from "./significance.ts";

/** What the intake needs of the database. */
export interface AgentStore {
  claim(claim: { nodeId: string; session: string; machineId: string; bootId: string }): Promise<Claim>;
  readGpus(nodeId: string): Promise<Gpu[]>;
  findGpuHolders(uuids: readonly string[]): Promise<GpuHolder[]>;
  /** Answers the nodes whose sessions still hold them. */
  saveReports(rows: readonly NodeReportRow[], options: { urgent: boolean }): Promise<ReadonlySet<string>>;
  saveGpus(gpus: readonly Gpu[]): Promise<void>;
}

interface NodeSession {
  readonly session: string;
  readonly bootId: string;
  gpus: readonly Gpu[];
  summary: string;
}

interface PendingReport {
  readonly row: NodeReportRow;
  readonly gpus: readonly Gpu[];
  readonly urgent: boolean;
}

export type Admission =
  | { readonly kind: "admitted" }
  | { readonly kind: "gone" }
  | { readonly kind: "superseded" }
  | Extract<Claim, { kind: "conflict" }>;

/** Takes agents' reports in: who may speak for a node, what changed, and when it has to be saved. */
export class AgentIntake {
  readonly #store: AgentStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lostAfterMs: number;
  readonly #sessions = new Map<string, NodeSession>();
  /** Sessions that another one of the same node took over from. */
  readonly #superseded = new Set<string>();
  readonly #batch: ReportBatch<PendingReport>;

  constructor(options: {
    readonly store: AgentStore;
    readonly lostAfterMs: number;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#lostAfterMs = options.lostAfterMs;
    this.#batch = new ReportBatch({
      save: (reports) => this.#save(reports),
      merge: mergeReports,
      clock: options.clock,
      log: options.log,
    });
  }

  /** Whether this agent process may speak for its node. */
  async admit(nodeId: string, request: AgentSyncRequest): Promise<Admission> {
    const { session, machineId, bootId } = request;
    if (this.#superseded.has(session)) return { kind: "superseded" };
    const current = this.#sessions.get(nodeId);
    if (current?.session === session) return { kind: "admitted" };
    const claim = await this.#store.claim({ nodeId, session, machineId, bootId });
    if (claim.kind !== "held") return claim;
    if (current !== undefined) this.#superseded.add(current.session);
    this.#sessions.set(nodeId, { session, bootId, gpus: await this.#store.readGpus(nodeId), summary: "" });
    this.#log.info({ node: nodeId, session, bootId }, "an agent speaks for its node");
    return { kind: "admitted" };
  }

  /** Takes one report of an admitted agent. */
  async accept(nodeId: string, request: AgentSyncRequest): Promise<void> {
    const node = this.#sessions.get(nodeId);
    if (node === undefined || node.session !== request.session) return;
    const { report, appliedVersion } = request;
    const inventory = report.gpus === null ? null : await this.#ownGpus(nodeId, node, report.gpus);
    const gpuProbeError = inventory?.problem ?? report.gpuProbeError;
    const next = inventory === null ? node.gpus : this.#inventory(nodeId, node, inventory.own);
    const summary = agentSummary({ appliedVersion, shards: report.shards, gpuProbeError });
    this.#batch.add(nodeId, {
      row: { nodeId, session: request.session, appliedVersion, report: { ...report, gpuProbeError } },
      gpus: changedGpus(node.gpus, next),
      urgent: summary !== node.summary || isSignificant(node.gpus, next),
    });
    node.gpus = next;
    node.summary = summary;
  }

  run(times: { readonly everyMs: number; readonly soonMs: number }, signal: AbortSignal): Promise<void> {
    return this.#batch.run(times, signal);
  }

  #inventory(nodeId: string, node: NodeSession, reported: readonly GpuFacts[]): Gpu[] {
    const nowMs = this.#clock.nowMs();
    return updateInventory({ nodeId, bootId: node.bootId, known: node.gpus, reported, nowMs });
  }

  /** A GPU belongs to the node that reported it first, as long as that node is not given up on. */
  async #ownGpus(
    nodeId: string,
    node: NodeSession,
    reported: readonly GpuFacts[],
  ): Promise<{ own: GpuFacts[]; problem: string | null }> {
    const known = new Set(node.gpus.map((gpu) => gpu.uuid));
    const unknown = reported.filter((gpu) => !known.has(gpu.uuid)).map((gpu) => gpu.uuid);
    if (unknown.length === 0) return { own: [...reported], problem: null };
    const holders = await this.#store.findGpuHolders(unknown);
    const taken = holders.filter((holder) => holder.nodeId !== nodeId && holder.silentMs < this.#lostAfterMs);
    for (const holder of holders.filter((one) => one.nodeId !== nodeId && !taken.includes(one))) {
      const former = this.#sessions.get(holder.nodeId);
      if (former !== undefined) former.gpus = former.gpus.filter((gpu) => gpu.uuid !== holder.uuid);
    }
    const [first] = taken;
    return {
      own: reported.filter((gpu) => !taken.some((holder) => holder.uuid === gpu.uuid)),
      problem:
        first === undefined
          ? null
          : describeReason(reason("gpu_duplicate", { gpu: first.uuid, holder: first.nodeName })),
    };
  }

  async #save(reports: readonly PendingReport[]): Promise<void> {
    // GPUs first: a plan that sees a shard ready should see its GPU too.
    const current = reports.filter((one) => this.#sessions.get(one.row.nodeId)?.session === one.row.session);
    await this.#store.saveGpus(current.flatMap((one) => one.gpus));
    const saved = await this.#store.saveReports(
      current.map((one) => one.row),
      { urgent: current.some((one) => one.urgent) },
    );
    for (const { row } of current) {
      if (!saved.has(row.nodeId)) this.#sessions.delete(row.nodeId);
    }
  }
}

function mergeReports(older: PendingReport, newer: PendingReport): PendingReport {
  if (older.row.session !== newer.row.session) return newer;
  const gpus = new Map([...older.gpus, ...newer.gpus].map((gpu) => [gpu.uuid, gpu]));
  return { row: newer.row, gpus: [...gpus.values()], urgent: older.urgent || newer.urgent };
}
