import { newId, newSecret, sha256Hex } from "@llmgw/service";
import type { AuditEntry } from "./audit.ts";
import type { Database } from "./database.ts";
import { write } from "./write.ts";

/** Who a node's identity belongs to now, as far as its last sync tells. */
export interface Holder {
  readonly machineId: string;
  readonly bootId: string;
  readonly address: string;
  readonly silentMs: number;
}

export type Claim =
  | { readonly kind: "held" }
  | { readonly kind: "gone" }
  | { readonly kind: "conflict"; readonly holder: Holder };

interface HolderRow {
  readonly session: string;
  readonly machine_id: string;
  readonly boot_id: string;
  readonly address: string;
  readonly silent_ms: number | null;
  readonly former_boots: string[];
}

/** Boots of a machine that are remembered as over. */
const FORMER_BOOTS = 20;

/**
 * A new agent process takes its node's identity over. The same machine has it at once, be it in the same boot or after a
 * reboot; anybody else only when the holder has been silent for `silentAfterMs`. A boot that another one of the machine
 * followed is over for good: who still names it is a copy of the machine.
 */
export function claimNode(
  database: Database,
  claim: {
    readonly nodeId: string;
    readonly session: string;
    readonly machineId: string;
    readonly bootId: string;
    readonly silentAfterMs: number;
  },
): Promise<Claim> {
  const { nodeId, session, machineId, bootId, silentAfterMs } = claim;
  return database.$transaction(async (tx): Promise<Claim> => {
    const [row] = await tx.$queryRaw<HolderRow[]>`
      SELECT session, machine_id, boot_id, address,
             (extract(epoch FROM clock_timestamp() - last_seen_at) * 1000)::float8 AS silent_ms, former_boots
      FROM node WHERE id = ${nodeId} AND removed_at IS NULL FOR UPDATE`;
    if (row === undefined) return { kind: "gone" };
    const silentMs = row.silent_ms ?? Number.POSITIVE_INFINITY;
    const isSameMachine = row.machine_id === machineId && !row.former_boots.includes(bootId);
    if (row.session !== session && !isSameMachine && silentMs < silentAfterMs) {
      return {
        kind: "conflict",
        holder: { machineId: row.machine_id, bootId: row.boot_id, address: row.address, silentMs },
      };
    }
    const isNewBoot = row.boot_id !== "" && row.boot_id !== bootId;
    const over = row.former_boots.filter((boot) => boot !== bootId);
    const formerBoots = JSON.stringify(isNewBoot ? [...over, row.boot_id].slice(-FORMER_BOOTS) : over);
    await tx.$executeRaw`
      UPDATE node SET session = ${session}, machine_id = ${machineId}, boot_id = ${bootId},
        former_boots = ${formerBoots}::jsonb, last_seen_at = clock_timestamp()
      WHERE id = ${nodeId}`;
    return { kind: "held" };
  });
}

export type Joined =
  | { readonly kind: "joined"; readonly nodeId: string; readonly credential: string }
  | { readonly kind: "name_taken"; readonly holder: Holder };

/**
 * A machine joins under a name and gets a credential. It may come back under its name, and get a new one; a name whose
 * machine has been silent for `silentAfterMs` may be taken over by another.
 */
export async function joinNode(
  database: Database,
  options: {
    readonly request: {
      readonly name: string;
      readonly machineId: string;
      readonly bootId: string;
      readonly simulated: boolean;
    };
    readonly silentAfterMs: number;
    readonly audit: (nodeId: string, isNew: boolean) => AuditEntry;
  },
): Promise<Joined> {
  const { request, silentAfterMs, audit } = options;
  const credential = newSecret("llmgw_node_");
  const written = await write(database, async ({ tx, nowMs, audit: record }): Promise<Joined> => {
    const known = await tx.node.findUnique({ where: { name: request.name } });
    const identity = {
      machineId: request.machineId,
      simulated: request.simulated,
      credentialSha256: sha256Hex(credential),
    };
    if (known === null) {
      const nodeId = newId("node", nowMs);
      await tx.node.create({ data: { id: nodeId, name: request.name, ...identity, registeredAt: new Date(nowMs) } });
      record(audit(nodeId, true));
      return { kind: "joined", nodeId, credential };
    }
    const silentMs = known.lastSeenAt === null ? Number.POSITIVE_INFINITY : nowMs - known.lastSeenAt.getTime();
    const isSame = known.machineId === request.machineId && known.simulated === request.simulated;
    if (!isSame && known.removedAt === null && silentMs < silentAfterMs) {
      const { machineId, bootId, address } = known;
      return { kind: "name_taken", holder: { machineId, bootId, address, silentMs } };
    }
    await tx.node.update({ where: { id: known.id }, data: { ...identity, removedAt: null } });
    record(audit(known.id, false));
    return { kind: "joined", nodeId: known.id, credential };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}
