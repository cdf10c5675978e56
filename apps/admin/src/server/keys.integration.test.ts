import { sha256Hex } from "@llmgw/service";
import type { UsageBatch } from "@llmgw/wire";
import { expect, test } from "vitest";
import { testDatabase } from "./db/testing/test-database.ts";
import { pruneUsage } from "./db/usage-store.ts";
import { post, ScriptedRouter } from "./testing/scripted-machines.ts";
import { startTestAdmin } from "./testing/test-admin.ts";

const noLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrent: null };

test("a key's secret is told once, and only its hash is kept and sent to routers", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const limits = { requestsPerMinute: 60, concurrent: 2 };
  const created = await admin.client.keys.create.mutate({ name: "alice", models: ["m1"], maxBand: "batch", limits });
  expect(created.secret).toMatch(/^llmgw_sk_.{40}/);
  expect(created.key).toMatchObject({ name: "alice", limits: { ...noLimits, ...limits }, revokedAt: null });
  expect(created.secret.startsWith(created.key.prefix)).toBe(true);
  const everything = JSON.stringify([
    await admin.client.keys.list.query(),
    await admin.client.audit.list.query(),
    await database.prisma.apiKey.findMany(),
  ]);
  expect(everything).not.toContain(created.secret.slice(created.key.prefix.length));
  const router = new ScriptedRouter(admin, "r");
  expect((await tableOf(router)).keys).toEqual([
    expect.objectContaining({
      ...{ id: created.key.id, sha256: sha256Hex(created.secret), models: ["m1"], maxBand: "batch" },
      ...{ limits: { ...noLimits, ...limits }, revoked: false },
    }),
  ]);
});

test("revoking a key is answered when live routers have it, and names the one that has not", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url, timeScale: 1 });
  const { key } = await admin.client.keys.create.mutate({ name: "alice" });
  const [prompt, deaf] = [new ScriptedRouter(admin, "prompt"), new ScriptedRouter(admin, "deaf")];
  for (const router of [prompt, deaf]) {
    await tableOf(router);
    await router.sync();
  }
  const revoking = admin.client.keys.revoke.mutate({ key: "alice", reason: "left" });
  const answer = await prompt.sync();
  expect(answer.kind === "table" ? answer.table.keys[0] : answer).toMatchObject({ id: key.id, revoked: true });
  await Promise.all([prompt.sync(), expect(revoking).resolves.toMatchObject({ unconfirmedRouters: ["deaf"] })]);
  expect((await revoking).key.revokedAt).not.toBeNull();
});

test("a key is changed by its name, field by field, until it is revoked for good", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  await admin.client.keys.create.mutate({ name: "alice", limits: { concurrent: 2 } });
  const taken = admin.client.keys.create.mutate({ name: "alice" });
  await expect(taken).rejects.toThrow(/There is a key named "alice" already/);
  const changed = await admin.client.keys.update.mutate({ key: "alice", models: ["m1"], mayExplain: true });
  expect(changed.key).toMatchObject({ models: ["m1"], mayExplain: true, limits: { concurrent: 2 } });
  const lifted = await admin.client.keys.update.mutate({ key: "alice", limits: {}, expiresAt: "2030-01-01T00:00:00Z" });
  expect(lifted.key).toMatchObject({ limits: noLimits, expiresAt: "2030-01-01T00:00:00.000Z", models: ["m1"] });
  await expect(admin.client.keys.update.mutate({ key: "alcie" })).rejects.toThrow(/There is no key "alcie".*alice/);
  await admin.client.keys.revoke.mutate({ key: "alice" });
  await admin.client.keys.revoke.mutate({ key: "alice" });
  await expect(admin.client.keys.update.mutate({ key: "alice" })).rejects.toThrow(/revoked for good/);
  const rows = (await admin.client.audit.list.query({ verb: "keys.revoke" })).rows;
  expect(rows, "revoking again changes nothing").toHaveLength(1);
  await admin.client.keys.create.mutate({ name: "alice" });
  expect((await admin.client.keys.list.query()).map(({ name, revokedAt }) => [name, revokedAt === null])).toEqual([
    ["alice", false],
    ["alice", true],
  ]);
  await expect(admin.clientOf(admin.tokens.operator).keys.create.mutate({ name: "bob" })).rejects.toMatchObject({
    data: { code: "FORBIDDEN" },
  });
});

test("a batch of usage counts once however often it arrives, and batches of one hour add up", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const { key } = await admin.client.keys.create.mutate({ name: "alice" });
  const row = {
    ...{ hour: "2026-03-01T10:00:00.000Z", keyId: key.id, model: "m1", requests: 2, estimatedRequests: 1 },
    ...{ promptTokens: 100, completionTokens: 50, cachedTokens: 7 },
  };
  const send = (batch: UsageBatch, router = "router_1") =>
    post(admin.url, { path: "routers.reportUsage", token: admin.tokens.router, body: { router, batch } });
  await Promise.all(Array.from({ length: 5 }, () => send({ boot: "b1", seq: 1, rows: [row] })));
  await send({ boot: "b1", seq: 2, rows: [row] });
  await send({ boot: "b1", seq: 1, rows: [row] });
  await send({ boot: "b2", seq: 1, rows: [{ ...row, model: "m2" }] });
  await send({ boot: "b1", seq: 1, rows: [{ ...row, keyId: "key_gone" }] }, "router_2");
  const from = "2026-03-01T00:00:00Z";
  const to = "2026-03-02T00:00:00Z";
  const rows = await admin.client.usage.list.query({ from, to });
  expect(rows).toHaveLength(3);
  expect(rows).toContainEqual({
    ...{ ...row, keyName: "alice", requests: 4, estimatedRequests: 2 },
    ...{ promptTokens: 200, completionTokens: 100, cachedTokens: 14 },
  });
  expect(rows).toContainEqual({ ...row, keyId: "key_gone", keyName: null });
  expect(await admin.client.usage.list.query({ from, to, key: "alice", model: "m2" })).toHaveLength(1);
  expect(await pruneUsage(database.prisma, new Date("2026-03-02T00:00:00Z"))).toBe(3);
});

async function tableOf(router: ScriptedRouter) {
  const answer = await router.sync();
  if (answer.kind !== "table") throw new Error(`expected a table, got ${answer.kind}`);
  return answer.table;
}
