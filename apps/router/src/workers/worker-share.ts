import { DEFAULT_MAX_INFLIGHT } from "@llmgw/domain";
import type { EndpointEntry } from "@llmgw/wire";
import type { StaticConfig } from "../registry/static-config.ts";

/** One of several processes on one port. `index` counts from 0. */
export interface WorkerShare {
  readonly index: number;
  readonly count: number;
}

export type Sharing =
  | { readonly kind: "ok"; readonly config: StaticConfig }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/**
 * What one worker may use of everything that is limited for the router as a whole, so that all of them together stay within
 * it: places in endpoints, queue lengths, memory for bodies, limits of keys. An endpoint has to have a place for each worker.
 */
export function shareOf(config: StaticConfig, share: WorkerShare): Sharing {
  const { table, settings } = config;
  const { admission } = settings;
  const problems = table.models.flatMap(({ endpoints }) => endpoints.flatMap((entry) => tooSmall(entry, share)));
  if (problems.length > 0) return { kind: "invalid", problems };
  return {
    kind: "ok",
    config: {
      ...config,
      table: {
        ...table,
        routers: table.routers * share.count,
        models: table.models.map((model) => ({
          ...model,
          endpoints: model.endpoints.map((entry) => ({ ...entry, maxInflight: part(maxInflightOf(entry), share) })),
        })),
      },
      settings: {
        ...settings,
        admission: {
          ...admission,
          maxQueuedRequests: Math.max(1, part(admission.maxQueuedRequests, share)),
          maxQueuedBytes: Math.max(1, part(admission.maxQueuedBytes, share)),
          bodyMemoryBytes: Math.max(1, part(admission.bodyMemoryBytes, share)),
        },
      },
    },
  };
}

function maxInflightOf({ maxInflight }: EndpointEntry): number {
  return maxInflight ?? DEFAULT_MAX_INFLIGHT;
}

function tooSmall(entry: EndpointEntry, { count }: WorkerShare): string[] {
  const limit = maxInflightOf(entry);
  if (limit >= count) return [];
  return [
    `endpoint ${entry.replica} has maxInflight ${limit}, which ${count} workers cannot share: expected at least ${count}, or fewer --workers`,
  ];
}

/** The worker's part of a whole; the first ones get what does not divide. */
function part(whole: number, { index, count }: WorkerShare): number {
  return Math.floor(whole / count) + (index < whole % count ? 1 : 0);
}
