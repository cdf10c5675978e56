import { expect, test } from "vitest";
import { ensureCluster } from "../cluster-row.ts";
import type { Database } from "../database.ts";
import { acquireLease, type Fence } from "../lease.ts";
import { testDatabase } from "../testing/test-database.ts";
import { write } from "../write.ts";
import { pruneAudit } from "./prune.ts";
import { sealAudit } from "./seal.ts";
import { verifyAudit } from "./verify.ts";

const never = new AbortController().signal;

async function seed(database: Database, rows: number): Promise<Fence> {
  await ensureCluster(database);
  const lease = await acquireLease(database, { holder: "admin-1", leaseMs: 60_000 });
  if (lease === null) throw new Error("nobody else holds the lease");
  await addRows(database, rows);
  return lease;
}

async function addRows(database: Database, rows: number): Promise<void> {
  await write(database, async ({ audit }) => {
    for (let index = 0; index < rows; index += 1) {
      audit({
        ...{ actorKind: "token", actor: "ops", role: "operator", source: "127.0.0.1", verb: "nodes.setAvailability" },
        ...{ target: `node-${index}`, before: { b: 1, a: [1, { z: 0, y: null }] }, after: null, reason: "ünïcode" },
        ...{ outcome: "ok", requestId: null, cause: null },
      });
    }
  });
}

/** What an intruder does who owns the tables: past every trigger. */
async function pastTriggers(database: Database, statement: string): Promise<void> {
  await database.$transaction(async (tx) => {
    for (const table of ["audit", "audit_seal"]) {
      await tx.$executeRawUnsafe(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    }
    await tx.$executeRawUnsafe(statement);
    for (const table of ["audit", "audit_seal"]) {
      await tx.$executeRawUnsafe(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
    }
  });
}

test("every row is sealed once, in order, and the chain over them holds", async () => {
  await using database = await testDatabase();
  const lease = await seed(database.prisma, 620);
  expect(await verifyAudit(database.prisma, never)).toEqual({
    ...{ firstSeq: 1, lastSeq: 620, unsealed: 620, prunedAt: null, problem: null },
  });
  expect([await sealAudit(database.prisma, lease), await sealAudit(database.prisma, lease)]).toEqual([500, 120]);
  await addRows(database.prisma, 3);
  expect(await verifyAudit(database.prisma, never)).toMatchObject({ lastSeq: 623, unsealed: 3, problem: null });
  expect(await sealAudit(database.prisma, { ...lease, epoch: lease.epoch + 1 })).toBe(0);
});

test("the database refuses to change or delete rows, seals and anchors, and an anchor that is no seal", async () => {
  await using database = await testDatabase();
  const { prisma } = database;
  await sealAudit(prisma, await seed(prisma, 2));
  const tries = [
    "UPDATE audit SET actor = 'x'",
    "DELETE FROM audit",
    "TRUNCATE audit",
    "UPDATE audit_seal SET hash = ''",
    "DELETE FROM audit_seal",
    "TRUNCATE audit_seal",
    "INSERT INTO audit_anchor (seq, hash) VALUES (2, '')",
  ];
  for (const statement of tries) {
    await expect(prisma.$executeRawUnsafe(statement), statement).rejects.toThrow(/audit/);
  }
  expect(await verifyAudit(prisma, never)).toMatchObject({ lastSeq: 2, problem: null });
});

test.each([
  ["UPDATE audit SET reason = 'another' WHERE seq = 3", { kind: "changed", seq: 3 }],
  ["UPDATE audit SET at = at + interval '1 ms' WHERE seq = 1", { kind: "changed", seq: 1 }],
  ["DELETE FROM audit WHERE seq = 4", { kind: "missing", seq: 4 }],
  ["DELETE FROM audit WHERE seq > 4", { kind: "missing", seq: 5 }],
  ["DELETE FROM audit_seal WHERE seq = 2", { kind: "seal_missing", seq: 2 }],
])("an intruder's %s is found", async (statement, problem) => {
  await using database = await testDatabase();
  const { prisma } = database;
  await sealAudit(prisma, await seed(prisma, 5));
  await pastTriggers(prisma, statement);
  expect((await verifyAudit(prisma, never)).problem).toEqual(problem);
});

test("pruning deletes the oldest sealed rows only, says so, and the chain is followed from there", async () => {
  await using database = await testDatabase();
  const { prisma } = database;
  const lease = await seed(prisma, 4);
  await sealAudit(prisma, lease);
  await pastTriggers(prisma, "UPDATE audit SET at = now() - interval '3 days' WHERE seq IN (1, 2, 4)");
  // The chain was made anew over the older times, as if they had been there at the sealing.
  await pastTriggers(prisma, "DELETE FROM audit_seal");
  await sealAudit(prisma, lease);

  expect(await pruneAudit(prisma, lease, 86_400_000)).toBe(2); // row 4 comes after the young row 3
  expect(await pruneAudit(prisma, lease, 86_400_000)).toBe(0);
  const rows = await prisma.audit.findMany({ orderBy: { seq: "asc" } });
  expect(rows.map((row) => [Number(row.seq), row.verb])).toEqual([
    [3, "nodes.setAvailability"],
    [4, "nodes.setAvailability"],
    [5, "audit.prune"],
  ]);
  expect(rows[2]?.after).toMatchObject({ rows: 2 });
  await sealAudit(prisma, lease);
  expect(await verifyAudit(prisma, never)).toMatchObject({ firstSeq: 3, lastSeq: 5, unsealed: 0, problem: null });
  expect(await prisma.auditAnchor.count()).toBe(1);
});
