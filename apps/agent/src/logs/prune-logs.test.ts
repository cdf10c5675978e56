import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pruneLogs } from "./prune-logs.ts";

const dayMs = 24 * 3_600_000;
const nowMs = Date.parse("2026-12-01T00:00:00Z");

describe("logs of replicas that are gone", () => {
  it("are removed after a week, and sooner when there are too many; those of known replicas never", async () => {
    const directory = await mkdtemp(join(tmpdir(), "llmgw-prune-"));
    const write = async (replica: string, ageMs: number) => {
      const folder = join(directory, encodeURIComponent(replica), "0");
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "1.log"), "x");
      const at = new Date(nowMs - ageMs);
      await utimes(join(folder, "1.log"), at, at);
    };
    await write("org/model-known", 30 * dayMs);
    await write("model-old", 8 * dayMs);
    await write("model-recent", dayMs);
    const options = { directory, kept: new Set(["org/model-known"]), nowMs };
    expect(await pruneLogs(options)).toEqual(["model-old"]);
    for (let number = 0; number < 110; number += 1) await write(`many-${number}`, (2 + number / 1000) * dayMs);
    expect(await pruneLogs(options)).toHaveLength(11);
    expect(await readdir(directory)).toContain(encodeURIComponent("org/model-known"));
    expect(await readdir(directory)).toContain("model-recent");
    await rm(directory, { recursive: true });
  });
});
