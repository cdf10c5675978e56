import type { Gpu } from "../cluster/gpu.ts";
import type { Cordon, Node } from "../cluster/node.ts";
import { aGpu, aGpuHealth } from "./a-gpu.ts";
import { testNowMs } from "./instant.ts";

/** What a test says of a node; `gpus` is a list, or how many idle H100s it has. */
export interface NodeOverrides extends Partial<Omit<Node, "gpus">> {
  readonly gpus?: readonly Gpu[] | number;
}

/**
 * A real, live, uncordoned node that runs vLLM, with two idle H100s. `id` defaults to `node_<name>`; GPUs given as a
 * list are re-homed to this node.
 */
export function aNode(overrides: NodeOverrides = {}): Node {
  const name = overrides.name ?? "a";
  const id = overrides.id ?? `node_${name}`;
  const bootId = overrides.bootId ?? "boot-1";
  const gpus = overrides.gpus ?? 2;
  return {
    name,
    address: "127.0.0.11",
    machineId: `machine-${name}`,
    bootId,
    labels: {},
    simulated: false,
    agentVersion: "0.1.0",
    engines: [{ name: "vllm", version: "0.19.1" }],
    sources: {},
    registeredAtMs: testNowMs - 86_400_000,
    lastSeenAtMs: testNowMs - 1_000,
    returnsAtMs: [],
    lostConfirmedAtMs: null,
    appliedVersion: 1,
    cordons: [],
    observations: [],
    ...overrides,
    id,
    gpus:
      typeof gpus === "number"
        ? Array.from({ length: gpus }, (_, index) => aGpu({ index, nodeId: id, health: aGpuHealth({ bootId }) }))
        : gpus.map((gpu) => rehomed(gpu, id)),
  };
}

/** The GPU in this node; a UUID that was made from its former node's id is made anew. */
function rehomed(gpu: Gpu, nodeId: string): Gpu {
  const made = gpu.uuid === `GPU-${gpu.nodeId}-${gpu.index}`;
  return { ...gpu, nodeId, uuid: made ? `GPU-${nodeId}-${gpu.index}` : gpu.uuid };
}

/** An operator's cordon of a whole node. */
export function aCordon(overrides: Partial<Cordon> = {}): Cordon {
  const nodeId = overrides.nodeId ?? "node_a";
  return {
    id: `cordon_${nodeId}`,
    nodeId,
    gpuUuid: null,
    owner: "operator",
    by: "op1",
    reason: "maintenance",
    sinceMs: testNowMs - 60_000,
    drainId: null,
    ...overrides,
  };
}
