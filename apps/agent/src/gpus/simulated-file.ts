import { readJsonFile } from "@llmgw/service";
import { memorySize } from "@llmgw/wire";
import { z } from "zod";

/**
 * One simulated GPU of a `sim:FILE`. All but `memory` is optional; a healthy card is what is left out.
 *
 * `index` defaults to the place in the list, `uuid` to one made of the node's name and that place; give one to keep a
 * GPU's identity over a change of order. Faults: `xid` (a number of NVIDIA's catalogue), `lost` (fallen off the bus:
 * its readings are unreadable), `eccUncorrected`, `recoveryAction` (the driver's words, such as "Reset"), `unreadable`
 * (no reading of it can be read), `foreignMemory` (held by a process that is not ours).
 */
const simulatedGpu = z.strictObject({
  memory: memorySize,
  index: z.int().min(0).optional(),
  uuid: z.string().startsWith("SIM-").optional(),
  name: z.string().min(1).default("Simulated GPU"),
  xid: z.int().positive().optional(),
  lost: z.boolean().default(false),
  unreadable: z.boolean().default(false),
  eccUncorrected: z.int().min(0).default(0),
  recoveryAction: z.string().optional(),
  foreignMemory: memorySize.optional(),
  temperatureC: z.number().default(40),
  migMode: z.enum(["enabled", "disabled", "unsupported"]).default("disabled"),
});
export type SimulatedGpu = z.infer<typeof simulatedGpu>;

/** `{ "gpus": [{ "memory": "80GiB" }], "probeError": "…" }`; with `probeError` the whole probe fails with that text. */
const simulatedFile = z.strictObject({
  gpus: z.array(simulatedGpu).max(64),
  probeError: z.string().min(1).optional(),
});

export type SimulatedFile =
  | { readonly kind: "ok"; readonly gpus: readonly SimulatedGpu[] }
  | { readonly kind: "failed"; readonly problem: string };

/** Reads a file of simulated GPUs. What is wrong with it is a problem of the probe, not of the agent. */
export async function readSimulatedFile(path: string): Promise<SimulatedFile> {
  const file = await readJsonFile(path, simulatedFile);
  switch (file.kind) {
    case "absent":
      return { kind: "failed", problem: `the file of simulated GPUs ${path} is not there` };
    case "invalid":
      return { kind: "failed", problem: file.problem };
    case "ok":
      if (file.value.probeError !== undefined) return { kind: "failed", problem: file.value.probeError };
      return { kind: "ok", gpus: file.value.gpus };
  }
}

/** The GPUs of `sim:COUNTxSIZE`. */
export function equalSimulatedGpus(count: number, totalMib: number): SimulatedGpu[] {
  return Array.from({ length: count }, () => simulatedGpu.parse({ memory: totalMib }));
}
