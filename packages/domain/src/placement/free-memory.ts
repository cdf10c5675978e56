import type { Gpu } from "../cluster/gpu.ts";
import type { GpuHolder } from "./record.ts";
import type { Tenant } from "./tenants.ts";

export type FreeMemory =
  | { readonly kind: "known"; readonly freeMib: number }
  /** The driver did not say; `found` is what it said instead. Never to be read as 0. */
  | { readonly kind: "unknown"; readonly found: "unsupported" | "unreadable" };

/**
 * MiB that a GPU can still give:
 *
 *   min(total − reserve, total − foreign) − Σ max(claim, use) over our tenants
 *
 * which is min(total − reserve, measured free + our own use) with every tenant held at what it was promised, or at what
 * it really takes where that is more. `foreign` is memory of processes that are not our tenants'. A tenant whose own use
 * cannot be read (containers hide pids, drivers print [N/A]) accounts for the used memory up to its claim. Known flaw:
 * a foreign process that the driver does not list either is then taken for the tenant, up to that claim.
 */
export function gpuFreeMib(gpu: Gpu, tenants: readonly Tenant[], reserveMib: number): FreeMemory {
  const total = gpu.totalMib;
  if (typeof total !== "number") return { kind: "unknown", found: total };
  const used = gpu.usedMib;
  if (typeof used !== "number") return { kind: "unknown", found: used };

  let tenantsMib = 0;
  let ownMib = 0;
  let strangersMib = 0;
  if (gpu.processes.length > 0) {
    for (const process of gpu.processes) {
      if (!isTenants(process.shard, tenants) && typeof process.usedMib === "number") strangersMib += process.usedMib;
    }
  }
  const hidden: Tenant[] = [];
  for (const tenant of tenants) {
    const useMib = readableUse(gpu, tenant);
    if (useMib === null) hidden.push(tenant);
    else ownMib += useMib;
    tenantsMib += Math.max(tenant.claimMib, useMib ?? 0);
  }
  for (const tenant of hidden) ownMib += Math.max(0, Math.min(tenant.claimMib, used - strangersMib - ownMib));
  const foreignMib = Math.max(strangersMib, used - ownMib, 0);
  const freeMib = Math.min(total - reserveMib, total - foreignMib) - tenantsMib;
  return { kind: "known", freeMib: Math.max(0, freeMib) };
}

/** Everybody who holds memory of a GPU: our shards with what they were promised, strangers by pid, and the reserve. */
export function gpuHolders(gpu: Gpu, tenants: readonly Tenant[], reserveMib: number): readonly GpuHolder[] {
  const holders: GpuHolder[] = tenants.map((tenant) => ({
    kind: "shard",
    id: tenant.shard,
    mib: Math.max(tenant.claimMib, readableUse(gpu, tenant) ?? 0),
  }));
  for (const process of gpu.processes) {
    if (isTenants(process.shard, tenants)) continue;
    const id = process.shard === null ? `pid ${process.pid}` : `pid ${process.pid} (${process.shard})`;
    holders.push({ kind: "process", id, mib: typeof process.usedMib === "number" ? process.usedMib : 0 });
  }
  if (reserveMib > 0) holders.push({ kind: "reserve", id: "reserve", mib: reserveMib });
  return holders;
}

/** Holders in one line, without the reserve: `m-abcde/0, pid 4242`. */
export function holderNames(holders: readonly GpuHolder[]): string {
  return holders
    .filter((holder) => holder.kind !== "reserve")
    .map((holder) => holder.id)
    .join(", ");
}

/** MiB a tenant's processes take on this GPU; null when none is listed or one cannot be read. */
function readableUse(gpu: Gpu, tenant: Tenant): number | null {
  let sum: number | null = null;
  for (const process of gpu.processes) {
    if (process.shard !== tenant.shard) continue;
    if (typeof process.usedMib !== "number") return null;
    sum = (sum ?? 0) + process.usedMib;
  }
  return sum;
}

function isTenants(shard: string | null, tenants: readonly Tenant[]): boolean {
  return shard !== null && tenants.some((tenant) => tenant.shard === shard);
}
