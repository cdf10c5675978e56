import type { GpuFacts } from "@llmgw/domain";

/** One look at the machine's GPUs: what was seen, or why nothing could be. */
export type GpuLook =
  | { readonly kind: "seen"; readonly gpus: readonly GpuFacts[]; readonly warning: string | null }
  | { readonly kind: "failed"; readonly problem: string };

/** Where GPU facts come from. */
export interface GpuSource {
  readonly simulated: boolean;
  look(): Promise<GpuLook>;
}
