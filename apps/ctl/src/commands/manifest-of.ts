import type { ModelSpec } from "@llmgw/domain";
import { formatDuration } from "@llmgw/service";
import type { ModelManifest } from "@llmgw/wire";

/** A stored spec as the `model.yaml` that makes it: `ctl apply -f` takes it unchanged and finds nothing to change. */
export function manifestOf(spec: ModelSpec): ModelManifest {
  const { engine, pool, resources, routing, drain, load, ...same } = spec;
  const { version, ...launch } = engine;
  const { memoryPerGpuMib, contextTokens, ...split } = resources;
  const { maxInflight, timeouts, ...balancing } = routing;
  const { firstByteMs, idleMs, progressMs } = timeouts;
  const manifest = {
    apiVersion: "llmgw/v1",
    kind: "Model",
    ...same,
    source: sourceOf(spec),
    engine: { ...launch, ...given({ version }) },
    ...given({ pool }),
    resources: given({ memoryPerGpu: sizeOf(memoryPerGpuMib), context: contextTokens, ...split }),
    routing: {
      ...balancing,
      ...given({ maxInflight }),
      timeouts: given({
        firstByte: durationOf(firstByteMs),
        idle: durationOf(idleMs),
        progress: durationOf(progressMs),
      }),
    },
    drain: given({ grace: durationOf(drain.graceMs) }),
    load: { max: durationOf(load.maxMs), stall: durationOf(load.stallMs) },
  };
  return manifest as ModelManifest; // its fields are those of the spec, written as the schema reads them
}

function sourceOf({ source }: ModelSpec): ModelManifest["source"] {
  if (source.kind === "hub") return { hub: source.repo };
  return source.kind === "path" ? { path: source.path } : { external: [...source.urls] };
}

function sizeOf(mib: number | null): string | null {
  if (mib === null) return null;
  return mib % 1024 === 0 ? `${mib / 1024}GiB` : `${mib}MiB`;
}

const durationOf = (ms: number | null) => (ms === null ? null : formatDuration(ms));

type Given<T> = { [K in keyof T]?: NonNullable<T[K]> };

/** Only the fields that say something: a manifest leaves out what is not set. */
function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Given<T>;
}
