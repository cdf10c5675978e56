import type { GpuView } from "@llmgw/api";
import type { CSSProperties } from "react";
import { counted, gib, gibNumber } from "../data/format.ts";

interface Memory {
  readonly oursMib: number;
  readonly foreignMib: number;
  readonly totalMib: number;
  /** GPUs whose memory cannot be read; they are not in the sums. */
  readonly unreadable: number;
}

/** What is claimed by our shards, held by others, and there in all. */
export function memoryOf(gpus: readonly GpuView[]): Memory {
  const sum = { oursMib: 0, foreignMib: 0, totalMib: 0, unreadable: 0 };
  for (const gpu of gpus) {
    if (typeof gpu.totalMib !== "number") {
      sum.unreadable += 1;
      continue;
    }
    sum.totalMib += gpu.totalMib;
    sum.oursMib += gpu.holders.reduce((mib, holder) => mib + holder.mib, 0);
    for (const process of gpu.foreign) sum.foreignMib += typeof process.usedMib === "number" ? process.usedMib : 0;
  }
  return sum;
}

export function share(part: number, whole: number): string {
  return whole === 0 ? "0%" : `${Math.min(100, (part / whole) * 100).toFixed(1)}%`;
}

/** CSS custom properties as a style attribute. */
export function vars(values: Readonly<Record<`--${string}`, string | number>>): CSSProperties {
  return values as CSSProperties;
}

export function MemoryBar({ gpus }: { readonly gpus: readonly GpuView[] }) {
  const memory = memoryOf(gpus);
  if (memory.totalMib === 0) {
    return (
      <span className="mem">
        <span className="mem-n faint">{gpus.length === 0 ? "–" : "unreadable"}</span>
        <span className="mem-t">{gpus.length > 0 && <i className="is-unread" />}</span>
      </span>
    );
  }
  return (
    <span className="mem">
      <span className="mem-n">
        {gibNumber(memory.oursMib)} <span className="faint">of {gib(memory.totalMib)}</span>
      </span>
      <span className="mem-t">
        <i style={vars({ "--p": share(memory.oursMib, memory.totalMib) })} />
        {memory.foreignMib > 0 && (
          <i className="is-foreign" style={vars({ "--p": share(memory.foreignMib, memory.totalMib) })} />
        )}
      </span>
      <Rest memory={memory} />
    </span>
  );
}

/** What the bar cannot say: how much others hold, and what is not in the sums. */
function Rest({ memory }: { readonly memory: Memory }) {
  const words = [
    ...(memory.foreignMib > 0 ? [`${gib(memory.foreignMib)} not ours`] : []),
    ...(memory.unreadable > 0 ? [`${counted(memory.unreadable, "GPU")} unreadable`] : []),
  ];
  return words.length === 0 ? null : <span className="sub mt-0.5">{words.join(", ")}</span>;
}
