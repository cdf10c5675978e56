import { type DrainTarget, describeReason, type Node } from "@llmgw/domain";
import { formatDuration } from "@llmgw/service";
import type { Effect } from "../../db/operator/set-availability.ts";
import { gpuExclusion } from "../views/node-view.ts";

/** What an order on a node did and what happens now, in a sentence. */
export function availabilityWords(
  effect: Effect,
  about: { readonly node: Node; readonly target: DrainTarget; readonly graceLeftMs: number | null },
): string {
  const { node, target, graceLeftMs } = about;
  const gpuIndex = node.gpus.find((gpu) => gpu.uuid === target.gpuUuid)?.index ?? null;
  const what = target.replica?.id ?? (gpuIndex === null ? node.name : `GPU ${gpuIndex} of ${node.name}`);
  const grace = graceLeftMs === null ? "" : formatDuration(Math.max(0, Math.round(graceLeftMs / 1000) * 1000));
  switch (effect) {
    case "cordoned":
      return `${what} cordoned: nothing new is placed there, what runs stays`;
    case "already_cordoned":
      return `${what} is cordoned already`;
    case "drain_started":
      if (target.replica !== null) {
        return `${what} drains: it goes once a replacement serves, and stops in ${grace} at the latest`;
      }
      return `${what} drains: each replica there moves as soon as its replacement serves; what has none stops in ${grace}`;
    case "drain_shortened":
      return `${what} drains already; its grace is shortened to ${grace}`;
    case "drain_forced":
      return `${what} drains by force: replicas stop taking requests now, whether or not a replacement serves`;
    case "drain_unchanged":
      return `${what} drains already; ${grace} of its grace are left`;
    case "uncordoned":
      return `uncordoned${stays(node, gpuIndex)}`;
    case "drain_cancelled":
      return `uncordoned, and its drain is cancelled${stays(node, gpuIndex)}`;
    case "not_cordoned":
      return `${what} is not cordoned${stays(node, gpuIndex)}`;
  }
}

/** What still keeps work away after an uncordon: no operator lifts that. */
function stays(node: Node, gpuIndex: number | null): string {
  const cordons = node.cordons
    .filter((cordon) => cordon.gpuUuid === null)
    .map((cordon) => `still cordoned by ${cordon.owner} (${cordon.reason})`);
  const gpus = node.gpus
    .filter((gpu) => gpuIndex === null || gpu.index === gpuIndex)
    .flatMap((gpu) => {
      const why = gpuExclusion(gpu, node);
      return why === null ? [] : [`GPU ${gpu.index} still excluded (${describeReason(why)})`];
    });
  return [...cordons, ...gpus].map((one) => `; ${one}`).join("");
}
