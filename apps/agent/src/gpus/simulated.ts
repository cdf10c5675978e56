import { createHash } from "node:crypto";
import type { GpuFacts, GpuFault, Reading } from "@llmgw/domain";
import type { Claim } from "./claims.ts";
import type { SimulatedGpu } from "./simulated-file.ts";

export interface SimulatedMachine {
  readonly nodeName: string;
  readonly gpus: readonly SimulatedGpu[];
  readonly claims: readonly Claim[];
  /** `<replica>/<rank>` of a live engine's pid; null for a stranger's. */
  readonly shardOfPid: (pid: number) => string | null;
}

/** Memory that a card's driver holds by itself, as real ones do. */
const driverMib = 4;
/** Foreign memory has to belong to some process; this number is no process of ours. */
const foreignPid = 999_999;

/** Simulated GPUs as a probe would report real ones. */
export function simulatedFacts({ nodeName, gpus, claims, shardOfPid }: SimulatedMachine): GpuFacts[] {
  return gpus.map((gpu, place) => {
    const uuid = gpu.uuid ?? simulatedUuid(nodeName, place);
    const held = claims.filter((claim) => claim.gpuUuids.includes(uuid));
    const foreignMib = gpu.foreignMemory ?? 0;
    const processes = [
      ...held.map(({ pid, mibPerGpu }) => ({ pid, usedMib: mibPerGpu, shard: shardOfPid(pid) })),
      ...(foreignMib > 0 ? [{ pid: foreignPid, usedMib: foreignMib, shard: null }] : []),
    ];
    const usedMib = processes.reduce((sum, process) => sum + process.usedMib, driverMib);
    const isReadable = !gpu.lost && !gpu.unreadable;
    const reading = (value: number): Reading => (isReadable ? value : "unreadable");
    return {
      uuid,
      index: gpu.index ?? place,
      vendor: "nvidia",
      name: gpu.name,
      pciBusId: `00000000:${(0x10 + place).toString(16).toUpperCase().padStart(2, "0")}:00.0`,
      totalMib: reading(gpu.memory),
      usedMib: reading(Math.min(usedMib, gpu.memory)),
      temperatureC: reading(gpu.temperatureC),
      utilizationRatio: reading(0),
      eccUncorrected: reading(gpu.eccUncorrected),
      migMode: isReadable ? gpu.migMode : "unreadable",
      faults: faultsOf(gpu, uuid),
      processes,
    };
  });
}

/** The same for the same node and place, over restarts and machines. */
export function simulatedUuid(nodeName: string, place: number): string {
  const hex = createHash("sha256").update(`${nodeName}/${place}`).digest("hex");
  return `SIM-${hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5")}`;
}

function faultsOf(gpu: SimulatedGpu, uuid: string): GpuFault[] {
  const faults: GpuFault[] = [];
  if (gpu.xid !== undefined) {
    faults.push({ kind: "xid", number: gpu.xid, evidence: `simulated: NVRM: Xid (${uuid}): ${gpu.xid}` });
  }
  if (gpu.lost) faults.push({ kind: "lost", evidence: `simulated: GPU ${uuid} has fallen off the bus` });
  if (gpu.recoveryAction !== undefined) {
    faults.push({ kind: "recovery_action", action: gpu.recoveryAction, evidence: `simulated: ${gpu.recoveryAction}` });
  }
  if (gpu.unreadable) faults.push({ kind: "unreadable", evidence: "simulated: memory.total=[Unknown Error]" });
  return faults;
}
