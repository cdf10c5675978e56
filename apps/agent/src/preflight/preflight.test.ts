import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngineRegistry } from "@llmgw/engines";
import { systemClock } from "@llmgw/service";
import { describe, expect, it } from "vitest";
import { versionIn } from "../engines-found.ts";
import type { GpuLook } from "../gpus/gpu-source.ts";
import { preflightText } from "./check.ts";
import { preflight } from "./preflight.ts";

async function machine(change: { readonly look: GpuLook; readonly programs: Readonly<Record<string, string>> }) {
  const dir = await mkdtemp(join(tmpdir(), "llmgw-check-"));
  for (const [name, says] of Object.entries(change.programs)) {
    await writeFile(join(dir, name), `#!/bin/sh\necho '${says}'\n`);
    await chmod(join(dir, name), 0o755);
  }
  const checks = await preflight({
    ...{ dataDir: join(dir, "data"), modelsDir: null, advertise: "127.0.0.1", ports: { first: 21_495, last: 21_499 } },
    adminUrl: "http://127.0.0.1:21494",
    gpus: { simulated: false, look: async () => change.look },
    kernelLogPath: join(dir, "no-kmsg"),
    registry: createEngineRegistry(null),
    ownVersion: "1.0.0",
    env: { PATH: dir },
    clock: systemClock,
  });
  await rm(dir, { recursive: true });
  return checks;
}

describe("the check before a node is used", () => {
  it("names what is missing and what to do about it", async () => {
    const look = { kind: "failed", problem: "Failed to initialize NVML: Driver/library version mismatch" } as const;
    const checks = await machine({ look, programs: {} });
    expect(checks.filter(({ verdict }) => verdict === "fail").map(({ name }) => name)).toEqual([
      "GPU driver",
      "engines",
      "admin",
    ]);
    const text = preflightText(checks);
    expect(text).toContain("Driver/library version mismatch");
    expect(text).toContain("none of vllm, sglang, llama-server is on PATH");
    expect(text).toMatch(/3 of \d checks failed/);
  });

  it("passes on a node that has all it needs, with the versions of its engines", async () => {
    const admin = createServer((_, response) => response.end("ok"));
    await new Promise<void>((resolve) => admin.listen(21_494, "127.0.0.1", resolve));
    const checks = await machine({ look: { kind: "seen", gpus: [], warning: null }, programs: { vllm: "0.33.0" } });
    admin.close();
    expect(checks.filter(({ verdict }) => verdict === "fail")).toEqual([]);
    expect(preflightText(checks)).toContain("vllm 0.33.0");
  });
});

describe("versionIn", () => {
  it.each([
    ["0.33.0\n", "0.33.0"],
    ["sglang version: 0.5.14\ngit revision: 16c8ff4", "0.5.14"],
    ["version: 6123 (80fb11a)\nbuilt with cc for x86_64", "6123"],
    ["hello", null],
  ])("reads %s", (text, version) => {
    expect(versionIn(text)).toBe(version);
  });
});
