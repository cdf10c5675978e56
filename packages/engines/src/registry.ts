import type { EngineName } from "@llmgw/domain";
import type { EngineAdapter } from "./adapter.ts";
import { type SimulatorPlace, simAdapter } from "./sim/adapter.ts";
import { vllmAdapter } from "./vllm/adapter.ts";

/** The engines an agent knows how to run, by name. An engine that is not in the map is not known by this agent. */
export type EngineRegistry = ReadonlyMap<EngineName, EngineAdapter>;

/**
 * The engines of a node. Simulated and real never mix: a node with simulated GPUs runs only the simulator, any other
 * node never does.
 */
export function createEngineRegistry(simulator: SimulatorPlace | null): EngineRegistry {
  const adapters = simulator === null ? [vllmAdapter] : [simAdapter(simulator)];
  return new Map(adapters.map((adapter) => [adapter.name, adapter]));
}
