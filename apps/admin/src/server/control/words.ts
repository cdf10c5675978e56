import { formatDuration } from "@llmgw/service";
import type { Holder } from "../db/node-identity.ts";

/** Who holds a node's identity, in words. */
export function holderWords({ machineId, bootId, address, silentMs }: Holder): string {
  const seen = Number.isFinite(silentMs) ? `heard of ${formatDuration(Math.round(silentMs))} ago` : "never heard of";
  return `machine ${machineId} (boot ${bootId}, address ${address === "" ? "unknown" : address}), ${seen}, holds it`;
}
