import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, systemClock } from "@llmgw/service";
import type { UsageReport, UsageRow } from "@llmgw/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { UsageJournal } from "./usage-journal.ts";
import type { UsageRecord } from "./usage-record.ts";
import { UsageUpload } from "./usage-upload.ts";

const log = createLogger({ name: "router", level: "silent" });
const never = new AbortController().signal;
const record: UsageRecord = {
  atMs: Date.parse("2026-03-01T10:59:59.999Z"),
  keyId: "key_1",
  model: "m1",
  promptTokens: 10,
  completionTokens: 5,
  cachedTokens: 2,
  isEstimated: false,
};

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "usage-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

/** An admin that counts each (boot, seq) once, as the real one does. */
function anAdmin() {
  const taken = new Map<string, UsageRow[]>();
  const state = { isAway: false };
  const sent: string[] = [];
  return {
    taken,
    sent,
    state,
    reportUsage: ({ batch }: UsageReport) => {
      if (state.isAway) return Promise.resolve({ kind: "failed" as const, problem: "away" });
      const name = `${batch.boot}/${batch.seq}`;
      sent.push(name);
      taken.set(name, batch.rows);
      return Promise.resolve({ kind: "ok" as const, answer: { seq: batch.seq } });
    },
    tokens: () => [...taken.values()].flat().reduce((sum, row) => sum + row.completionTokens, 0),
  };
}

function upload(journal: UsageJournal, client: ReturnType<typeof anAdmin>): Promise<void> {
  return new UsageUpload({ journal, client, routerId: "router_1", clock: systemClock, log }).upload(never);
}

async function journalOf(boot: string): Promise<UsageJournal> {
  const journal = new UsageJournal({ dir, boot });
  await journal.open();
  return journal;
}

describe("the usage journal", () => {
  test("sums up by hour, key and model, and what was taken is gone from the disk", async () => {
    const [journal, admin] = [await journalOf("boot_1"), anAdmin()];
    journal.append(record);
    journal.append({ ...record, isEstimated: true, promptTokens: 0 });
    journal.append({ ...record, atMs: record.atMs + 1 });
    journal.append({ ...record, model: "m2" });
    await upload(journal, admin);
    expect(admin.taken.get("boot_1/1")).toEqual([
      {
        ...{ hour: "2026-03-01T10:00:00.000Z", keyId: "key_1", model: "m1", requests: 2, estimatedRequests: 1 },
        ...{ promptTokens: 10, completionTokens: 10, cachedTokens: 4 },
      },
      expect.objectContaining({ hour: "2026-03-01T11:00:00.000Z", requests: 1 }),
      expect.objectContaining({ model: "m2", requests: 1 }),
    ]);
    expect(await readdir(dir)).toEqual([]);
  });

  test("loses nothing when the process is killed: the next one sends it, without the line that was cut", async () => {
    const first = await journalOf("boot_1");
    for (let count = 0; count < 100; count += 1) first.append(record);
    await writeFile(join(dir, "boot_1-0000000001.jsonl"), '[17000,"key_1","m1",1', { flag: "a" });
    const [second, admin] = [await journalOf("boot_2"), anAdmin()];
    second.append(record);
    await upload(second, admin);
    expect(admin.sent).toEqual(["boot_1/1", "boot_2/1"]);
    expect(admin.tokens()).toBe(101 * 5);
  });

  test("keeps batches while the admin is away and sends them in order, once each", async () => {
    const [journal, admin] = [await journalOf("boot_1"), anAdmin()];
    admin.state.isAway = true;
    for (let round = 0; round < 3; round += 1) {
      journal.append(record);
      await upload(journal, admin);
    }
    admin.state.isAway = false;
    await upload(journal, admin);
    await upload(journal, admin);
    expect(admin.sent).toEqual(["boot_1/1", "boot_1/2", "boot_1/3"]);
    expect(admin.tokens()).toBe(15);
  });

  test("sends a batch again under its number when the answer was lost, and counts what was summed up twice once", async () => {
    const [journal, admin] = [await journalOf("boot_1"), anAdmin()];
    journal.append(record);
    await journal.seal();
    const batch = await journal.oldest();
    if (batch === null) throw new Error("no batch");
    await admin.reportUsage({ router: "router_1", batch }); // taken, and the answer never arrived
    // As after a crash between the batch and the removal of its records.
    await writeFile(join(dir, "boot_1-0000000001.jsonl"), '[1772362799999,"key_1","m1",10,5,2,0]\n');
    const [next] = [await journalOf("boot_2")];
    await upload(next, admin);
    expect(admin.tokens()).toBe(5);
  });
});
