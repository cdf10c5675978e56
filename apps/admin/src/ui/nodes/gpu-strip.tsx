import type { GpuView, NodeView } from "@llmgw/api";
import { memoryOf, share, vars } from "../parts/memory-bar.tsx";
import { exclusionOf, exclusionWord, gpuName, gpuStateOf } from "../state/gpu-state.ts";
import { ReasonChip, StateIcon } from "../state/states.tsx";

function claimed(gpu: GpuView): string {
  const memory = memoryOf([gpu]);
  return share(memory.oursMib + memory.foreignMib, memory.totalMib);
}

/** A node's GPUs as small tiles, how many take work, and for each that does not a chip with the reason. */
export function GpuStrip({ node }: { readonly node: NodeView }) {
  const gpus = [...node.gpus].sort((a, b) => a.index - b.index);
  const nodeTakesWork = node.availability === "active" && node.liveness === "live";
  const usable = nodeTakesWork ? gpus.filter((gpu) => gpu.schedulable).length : 0;
  const flagged = gpus.filter((gpu) => !gpu.schedulable || gpu.health.status !== "healthy");
  if (gpus.length === 0) {
    return node.gpuProbeError === null ? (
      <span className="faint">none</span>
    ) : (
      <ReasonChip state="unhealthy" title={node.gpuProbeError}>
        Probe failed: {node.gpuProbeError}
      </ReasonChip>
    );
  }
  const spoken =
    flagged.length === 0
      ? "all healthy"
      : flagged.map((gpu) => `${gpuName(gpu)} ${gpuStateOf(node, gpu).word}`).join(", ");
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="gpus" role="img" aria-label={`${gpus.length} GPUs: ${spoken}`}>
        {gpus.map((gpu) => {
          const { state } = gpuStateOf(node, gpu);
          return state === "healthy" ? (
            <i key={gpu.uuid} style={vars({ "--p": claimed(gpu) })} />
          ) : (
            <i key={gpu.uuid} className={`is-flag s-${state}`}>
              <StateIcon state={state} />
            </i>
          );
        })}
      </span>
      <span className="num med">
        {usable} / {gpus.length}
        <span className="vh"> GPUs usable</span>
      </span>
      {flagged
        .filter((gpu) => gpuStateOf(node, gpu).state !== "healthy")
        .map((gpu) => (
          <ReasonChip key={gpu.uuid} state={gpuStateOf(node, gpu).state} title={exclusionOf(gpu) ?? ""}>
            {gpuName(gpu)}: {exclusionWord(node, gpu)}
          </ReasonChip>
        ))}
    </span>
  );
}
