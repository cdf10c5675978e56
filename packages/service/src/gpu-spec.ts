import { textSchema } from "./setting-schemas.ts";

const mibPerGib = 1024;

/** Where a node's GPUs come from. */
export type GpuSpec =
  | { readonly kind: "auto" }
  | { readonly kind: "simulated"; readonly count: number; readonly totalMib: number }
  | { readonly kind: "simulated-file"; readonly path: string };

/** `auto` (what nvidia-smi lists, none without it), `sim:2x80GiB`, or `sim:FILE`. */
export const gpuSpec = textSchema(
  'auto, sim:COUNTxSIZE such as "sim:2x80GiB" (simulated GPUs), or sim:FILE.json',
  parseGpuSpec,
);

export function parseGpuSpec(text: string): GpuSpec | undefined {
  if (text === "auto") return { kind: "auto" };
  const match = /^sim:(\d{1,2})x(\d+(?:\.\d+)?)(GiB|MiB)$/.exec(text);
  if (match !== null) {
    const count = Number(match[1]);
    const totalMib = Math.round(Number(match[2]) * (match[3] === "GiB" ? mibPerGib : 1));
    return totalMib > 0 ? { kind: "simulated", count, totalMib } : undefined;
  }
  const path = /^sim:(.*[./].*)$/.exec(text)?.[1];
  return path === undefined ? undefined : { kind: "simulated-file", path };
}
