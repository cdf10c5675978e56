import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseGpuSpec } from "@llmgw/service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { simulatedUuid } from "./simulated.ts";
import { simulatedSource } from "./simulated-source.ts";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "llmgw-gpus-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

function source(spec: string, alive: readonly number[] = []) {
  const parsed = parseGpuSpec(spec);
  if (parsed === undefined || parsed.kind === "auto") throw new Error(`not simulated: ${spec}`);
  return simulatedSource({
    spec: parsed,
    nodeName: "alpha",
    claimsDir: dir,
    isAlive: (pid) => alive.includes(pid),
    shardOfPid: (pid) => (pid === 7 ? "demo-abcde/0" : null),
  });
}

describe("simulated GPUs", () => {
  it("have an identity that depends on the node and the place alone", async () => {
    const look = await source("sim:2x80GiB").look();
    const uuids = [simulatedUuid("alpha", 0), simulatedUuid("alpha", 1)];
    expect(look).toMatchObject({ kind: "seen", gpus: uuids.map((uuid) => ({ uuid, totalMib: 81_920, faults: [] })) });
    expect(simulatedUuid("beta", 0)).not.toBe(uuids[0]);
    expect(uuids[0]).toMatch(/^SIM-[0-9a-f]{8}-/);
  });

  it("hold what live engines claim; a dead engine's claim is free memory", async () => {
    const claim = (pid: number, mibPerGpu: number) => ({ pid, gpuUuids: [simulatedUuid("alpha", 1)], mibPerGpu });
    await writeFile(join(dir, "7.json"), JSON.stringify(claim(7, 1000)));
    await writeFile(join(dir, "8.json"), JSON.stringify(claim(8, 5000)));
    await writeFile(join(dir, "9.json"), "{ half a file");
    const look = await source("sim:2x80GiB", [7, 9]).look();
    expect(look).toMatchObject({
      gpus: [{ processes: [] }, { usedMib: 1004, processes: [{ pid: 7, usedMib: 1000, shard: "demo-abcde/0" }] }],
    });
  });

  it("of a file break and heal as the file changes", async () => {
    const path = join(dir, "gpus.json");
    const file = source(`sim:${path}`);
    await writeFile(path, JSON.stringify({ gpus: [{ memory: "24GiB" }, { memory: "80GiB" }] }));
    expect(await file.look()).toMatchObject({ gpus: [{ totalMib: 24_576 }, { totalMib: 81_920, faults: [] }] });
    const broken = { memory: "80GiB", xid: 79, lost: true, recoveryAction: "Reboot" };
    await writeFile(path, JSON.stringify({ gpus: [{ memory: "24GiB", eccUncorrected: 3 }, broken] }));
    expect(await file.look()).toMatchObject({
      gpus: [
        { totalMib: 24_576, eccUncorrected: 3 },
        { totalMib: "unreadable", faults: [{ kind: "xid", number: 79 }, { kind: "lost" }, { action: "Reboot" }] },
      ],
    });
    await writeFile(path, JSON.stringify({ gpus: [], probeError: "Driver/library version mismatch" }));
    expect(await file.look()).toEqual({ kind: "failed", problem: "Driver/library version mismatch" });
  });

  it("of a file that is wrong are a failed probe that names the field", async () => {
    const path = join(dir, "wrong.json");
    await writeFile(path, JSON.stringify({ gpus: [{ memory: "80GiB", xids: 79 }] }));
    const look = await source(`sim:${path}`).look();
    expect(look).toMatchObject({ kind: "failed" });
    expect(JSON.stringify(look)).toContain("xids");
    expect(await source(`sim:${path}.gone`).look()).toMatchObject({ kind: "failed" });
  });
});

describe("parseGpuSpec", () => {
  it.each(["sim:2x80GiB", "sim:1x512MiB", "sim:./gpus.json", "auto"])("takes %s", (text) => {
    expect(parseGpuSpec(text)).toBeDefined();
  });
  it.each(["", "sim:", "sim:2x", "sim:2x0GiB", "2x80GiB", "nvidia"])("refuses %j", (text) => {
    expect(parseGpuSpec(text)).toBeUndefined();
  });
});
