import type { EngineName } from "@llmgw/domain";
import type { EngineAdapter } from "./adapter.ts";
import { llamacppAdapter } from "./llamacpp/adapter.ts";
import { sglangAdapter } from "./sglang/adapter.ts";
import { type SimulatorPlace, simulated } from "./sim/adapter.ts";
import { vllmAdapter } from "./vllm/adapter.ts";

/** The engines an agent knows how to run, by name. An engine that is not in the map is not known by this agent. */
export type EngineRegistry = ReadonlyMap<EngineName, EngineAdapter>;

const real = [vllmAdapter, sglangAdapter, llamacppAdapter];

/**
 * The engines of a node. Simulated and real never mix: on a node with simulated GPUs every engine is the simulator, in
 * the dialect of the engine that was asked for; on any other node none is.
 */
export function createEngineRegistry(simulator: SimulatorPlace | null): EngineRegistry {
  const adapters =
    simulator === null
      ? real
      : [simulated(vllmAdapter, simulator, "sim"), ...real.map((adapter) => simulated(adapter, simulator))];
  return new Map(adapters.map((adapter) => [adapter.name, adapter]));
}
