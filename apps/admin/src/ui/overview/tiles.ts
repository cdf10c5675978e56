import type { GpuView, NodeView } from "@llmgw/api";

/** A tile of the rack: GPUs side by side that hold the same shard, or one GPU with several tenants or none. */
export interface Tile {
  readonly gpus: readonly GpuView[];
  readonly tenants: readonly NodeView["shards"][number][];
}

/**
 * The GPUs of a node by index, neighbours with the same one shard joined. A tile never crosses a line of `perLine`
 * GPUs, so that it can be drawn as one block.
 */
export function tilesOf(node: NodeView, perLine: number): readonly Tile[] {
  const tiles: { gpus: GpuView[]; tenants: NodeView["shards"][number][] }[] = [];
  const gpus = [...node.gpus].sort((a, b) => a.index - b.index);
  for (const [position, gpu] of gpus.entries()) {
    const tenants = node.shards.filter((shard) => shard.gpuUuids.includes(gpu.uuid));
    const before = tiles.at(-1);
    const isJoined =
      before !== undefined &&
      position % perLine !== 0 &&
      tenants.length === 1 &&
      before.tenants.length === 1 &&
      gpu.schedulable === before.gpus.at(-1)?.schedulable &&
      tenants[0]?.replicaId === before.tenants[0]?.replicaId &&
      tenants[0]?.rank === before.tenants[0]?.rank;
    if (isJoined) before.gpus.push(gpu);
    else tiles.push({ gpus: [gpu], tenants });
  }
  return tiles;
}
