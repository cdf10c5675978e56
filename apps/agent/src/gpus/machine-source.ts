import { readFile } from "node:fs/promises";
import type { GpuFacts } from "@llmgw/domain";
import { amdSource } from "./amd-source.ts";
import type { GpuLook, GpuSource } from "./gpu-source.ts";
import { type NvidiaSourceOptions, nvidiaSource } from "./nvidia-source.ts";

export interface MachineSourceOptions extends NvidiaSourceOptions {
  /** Marks the CPU device of a machine without GPUs. */
  readonly machineId: string;
  readonly systemMemory: () => Promise<SystemMemory | null>;
}

export interface SystemMemory {
  readonly totalMib: number;
  readonly availableMib: number;
}

/** What the system and the agent need for themselves where work shares the main memory. */
const reserveMib = 2_048;

/**
 * What this machine computes on: NVIDIA's cards, else AMD's, else its CPU, as one device with the system's memory. A
 * card that shares the main memory (its tool knows no size) is given what the system has.
 */
export function machineSource(options: MachineSourceOptions): GpuSource {
  const sources = [nvidiaSource(options), amdSource(options)];
  return {
    simulated: false,
    look: async () => {
      for (const source of sources) {
        const look = await source.look();
        if (look.kind === "failed" || look.gpus.length > 0) return await withSystemMemory(look, options);
      }
      const memory = await options.systemMemory();
      const gpus = memory === null ? [] : [cpuDevice(options.machineId, memory)];
      return { kind: "seen", gpus, warning: null };
    },
  };
}

async function withSystemMemory(look: GpuLook, { systemMemory }: MachineSourceOptions): Promise<GpuLook> {
  if (look.kind === "failed" || !look.gpus.some(isUnified)) return look;
  const memory = await systemMemory();
  if (memory === null) return look;
  return { ...look, gpus: look.gpus.map((gpu) => (isUnified(gpu) ? { ...gpu, ...sizesOf(memory) } : gpu)) };
}

const isUnified = ({ totalMib, usedMib }: GpuFacts) => totalMib === "unsupported" && usedMib === "unsupported";

function sizesOf({ totalMib, availableMib }: SystemMemory) {
  return { totalMib, usedMib: Math.min(totalMib, totalMib - availableMib + reserveMib) };
}

function cpuDevice(machineId: string, memory: SystemMemory): GpuFacts {
  return {
    uuid: `CPU-${machineId}`,
    index: 0,
    vendor: "cpu",
    name: "CPU (system memory)",
    pciBusId: null,
    ...sizesOf(memory),
    temperatureC: "unsupported",
    utilizationRatio: "unsupported",
    eccUncorrected: "unsupported",
    migMode: "unsupported",
    faults: [],
    processes: [],
  };
}

/** The main memory by /proc/meminfo; null where there is none (another system than Linux). */
export async function linuxMemory(path = "/proc/meminfo"): Promise<SystemMemory | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  const mib = (name: string) => Math.floor(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]) / 1024);
  const memory = { totalMib: mib("MemTotal"), availableMib: mib("MemAvailable") };
  return Number.isFinite(memory.totalMib + memory.availableMib) ? memory : null;
}
