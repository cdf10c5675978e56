import type { ViewContext } from "./context.ts";

/** `sim-2 GPU 1`, several of these joined by " + " for several nodes; null for no place. */
export function placesInWords(
  shards: readonly { readonly nodeId: string; readonly gpuUuids: readonly string[] }[],
  { nodes }: ViewContext,
): string | null {
  if (shards.length === 0) return null;
  return shards
    .map(({ nodeId, gpuUuids }) => {
      const node = nodes.get(nodeId);
      const gpus = gpuUuids.map((uuid) => node?.gpus.find((gpu) => gpu.uuid === uuid)?.index ?? "?");
      return `${node?.name ?? nodeId} GPU ${gpus.join(", ")}`;
    })
    .join(" + ");
}
