import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@llmgw/service";
import { describe, expect, it } from "vitest";
import { linuxMemory, machineSource, type SystemMemory } from "./machine-source.ts";
import { nvidiaSmi } from "./testing/nvidia-smi-output.ts";

const memory: SystemMemory = { totalMib: 122_070, availableMib: 66_757 };

/** A machine with stand-ins for the tools of GPU makers: name → what it prints. */
async function machine(tools: Readonly<Record<string, string>>, systemMemory: SystemMemory | null = memory) {
  const dir = await mkdtemp(join(tmpdir(), "llmgw-machine-"));
  for (const [name, script] of Object.entries(tools)) {
    await writeFile(join(dir, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(dir, name), 0o755);
  }
  const source = machineSource({
    env: { PATH: `${dir}:/usr/bin:/bin` },
    clock: systemClock,
    ...{ timeoutMs: 10_000, killAfterMs: 100, shardOfPid: () => null, kernelLog: null, machineId: "m1" },
    systemMemory: async () => systemMemory,
  });
  return { source, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

const query = (rows: string) => `case "$1" in --query-gpu=*) cat <<'E'\n${rows}E\n;; esac`;
const amdList = `[{"gpu":0,"bdf":"0000:0c:00.0","uuid":"ffff74a1-0000-1000-80aa","hip_id":1},{"gpu":1,"bdf":"0000:22:00.0","uuid":"ffff74a1-0000-1000-80bb","hip_id":0}]`;
const amdMetric = `{"gpu_data":[{"gpu":0,"usage":{"gfx_activity":{"value":94,"unit":"%"},"mm_activity":"N/A"},"temperature":{"edge":"N/A","hotspot":{"value":61,"unit":"C"}},"ecc":{"total_correctable_count":0,"total_uncorrectable_count":2},"mem_usage":{"total_vram":{"value":196592,"unit":"MB"},"used_vram":{"value":17153,"unit":"MB"}}}]}`;
const rocm = `{"card0":{"GPU use (%)":"12","VRAM Total Memory (B)":"25753026560","VRAM Total Used Memory (B)":"1048576","Temperature (Sensor edge) (C)":"45.0","Card series":"Radeon"},"system":{"Driver version":"6.8"}}`;

describe("machineSource", () => {
  it("gives a card with unified memory what the system has, less what is in use and a reserve: unknown is not zero", async () => {
    await using it = await machine({ "nvidia-smi": query(nvidiaSmi.unifiedMemory) });
    const look = await it.source.look();
    expect(look).toMatchObject({ gpus: [{ name: "NVIDIA GB10", totalMib: 122_070, faults: [] }] });
    const [gpu] = look.kind === "seen" ? look.gpus : [];
    expect(Number(gpu?.totalMib) - Number(gpu?.usedMib)).toBeLessThanOrEqual(66_757);
    await using without = await machine({ "nvidia-smi": query(nvidiaSmi.unifiedMemory) }, null);
    expect(await without.source.look()).toMatchObject({ gpus: [{ totalMib: "unsupported" }] });
  });

  it("reads AMD's cards, by HIP's own order, in both shapes of the tool's JSON", async () => {
    const script = `case "$1" in list) echo '${amdList}';; metric) echo '${amdMetric}';; esac`;
    await using it = await machine({ "amd-smi": script });
    const look = await it.source.look();
    expect(look).toMatchObject({
      gpus: [
        {
          vendor: "amd",
          index: 1,
          totalMib: 196_592,
          usedMib: 17_153,
          utilizationRatio: 0.94,
          eccUncorrected: 2,
          faults: [],
        },
        { vendor: "amd", index: 0, totalMib: "unreadable", faults: [{ kind: "unreadable" }] },
      ],
    });
  });

  it("reads the older tool where the newer one is not installed", async () => {
    await using it = await machine({ "rocm-smi": `echo '${rocm}'` });
    expect(await it.source.look()).toMatchObject({ gpus: [{ vendor: "amd", index: 0, totalMib: 24_560, usedMib: 1 }] });
  });

  it("says so when AMD's tool answers with something else", async () => {
    await using it = await machine({ "amd-smi": "echo oops" });
    expect(await it.source.look()).toMatchObject({ kind: "failed", problem: expect.stringContaining("no JSON") });
  });

  it("of a machine without GPUs lists its CPU with the system's memory", async () => {
    await using it = await machine({});
    expect(await it.source.look()).toMatchObject({ gpus: [{ uuid: "CPU-m1", vendor: "cpu", totalMib: 122_070 }] });
  });
});

describe("linuxMemory", () => {
  it("reads what the system has", async () => {
    const dir = await mkdtemp(join(tmpdir(), "llmgw-meminfo-"));
    await writeFile(join(dir, "meminfo"), "MemTotal:       125000000 kB\nMemFree: 1 kB\nMemAvailable:   68359375 kB\n");
    expect(await linuxMemory(join(dir, "meminfo"))).toEqual({ totalMib: 122_070, availableMib: 66_757 });
    expect(await linuxMemory(join(dir, "none"))).toBeNull();
    await rm(dir, { recursive: true });
  });
});
