import type { Database } from "./database.ts";
import { write } from "./write.ts";

/**
 * Ends a hold: raises this database's version above every version that agents and routers reported, so that they take
 * its word again. Answers the new version; null when there was nothing to adopt.
 */
export async function adopt(database: Database): Promise<number | null> {
  const written = await write(database, async ({ tx, audit }) => {
    const { version, reported } = await tx.cluster.findUniqueOrThrow({ where: { one: 1 } });
    if (reported <= version) return null;
    const raised = reported + 1n;
    await tx.cluster.update({ where: { one: 1 }, data: { version: raised } });
    audit({
      actorKind: "system",
      actor: "llmgw admin adopt",
      role: null,
      source: null,
      verb: "cluster.adopt",
      target: "cluster",
      before: { version: Number(version), reported: Number(reported) },
      after: { version: Number(raised) },
      reason: null,
      outcome: "ok",
      requestId: null,
      cause: null,
    });
    return Number(raised);
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}
