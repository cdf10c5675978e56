import type { EngineAdapter, EngineRegistry, LaunchGpu } from "@llmgw/engines";
import type { Clock, Logger } from "@llmgw/service";
import type { ShardLaunch } from "@llmgw/wire";
import { secretValues } from "../logs/redact.ts";
import type { PortPicker } from "../processes/ports.ts";
import type { ProcessTable } from "../processes/process-table.ts";
import type { ShardRecords } from "../processes/shard-record.ts";
import type { SuperviseSettings } from "./shard-state.ts";
import type { Timings } from "./timings.ts";

export type GpuResolution =
  | { readonly kind: "found"; readonly gpus: readonly LaunchGpu[] }
  | { readonly kind: "missing"; readonly uuids: readonly string[] }
  | { readonly kind: "unreadable"; readonly problem: string };

/** Turns GPU UUIDs into today's indices, from a fresh look at the machine. */
export interface GpuResolver {
  resolve(uuids: readonly string[], signal: AbortSignal): Promise<GpuResolution>;
}

/** Everything the supervisor works with. */
export interface SuperviseContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: Timings;
  readonly settings: SuperviseSettings;
  readonly registry: EngineRegistry;
  readonly records: ShardRecords;
  readonly table: ProcessTable;
  readonly bootId: string;
  /** Marks this agent's processes in their tokens; the same for every agent started on this data folder. */
  readonly owner: string;
  readonly desiredPath: string;
  readonly logsDir: string;
  /** Where files are kept that only an engine may read, a folder for each start. */
  readonly privateDir: string;
  /** Where engines run. */
  readonly workDir: string;
  /** The address that engines listen on and are reported under. */
  readonly advertise: string;
  readonly ports: PortPicker;
  readonly gpus: GpuResolver;
  readonly modelsDir: string | null;
  readonly environment: {
    readonly own: Readonly<Record<string, string | undefined>>;
    readonly file: Readonly<Record<string, string>>;
  };
  /** The agent's own credentials, which no log line may show. */
  readonly ownSecrets: readonly string[];
}

export function adapterOf(context: SuperviseContext, launch: ShardLaunch | null): EngineAdapter | null {
  return launch === null ? null : (context.registry.get(launch.engine.name) ?? null);
}

/** Every secret this agent knows that a shard's log could show. */
export function secretsOf({ environment, ownSecrets }: SuperviseContext, launch: ShardLaunch | null): string[] {
  const own = [...ownSecrets, ...secretValues(environment.file)];
  return launch === null ? own : [...own, launch.apiKey, ...secretValues(launch.engine.env)];
}
