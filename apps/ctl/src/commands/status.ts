import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { printOne } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl status`: the cluster in one sentence. */
async function status(context: CommandContext): Promise<number> {
  const { client } = await context.connection();
  const cluster = await client.cluster.get.query();
  printOne(cluster, context.format, () => {
    const { nodes, gpus, models, openDrains } = cluster;
    return [
      `${cluster.id}${cluster.simulated ? " (simulated nodes)" : ""}, llmgw ${cluster.build.version}, version ${cluster.version}`,
      `${nodes.live} of ${nodes.total} nodes live, ${nodes.draining} draining, ${nodes.cordoned} cordoned; ${gpus.excluded} of ${gpus.total} GPUs excluded`,
      `${models.total} models, ${models.belowDesired} below desired; ${cluster.replicas.serving} of ${cluster.replicas.total} replicas serve; ${openDrains} drains open`,
      `${cluster.routers.live} routers live, ${cluster.routers.silent} silent; control loop: ${cluster.leader ?? "nobody holds the lease"}`,
    ].join("\n");
  });
  return exit.ok;
}

export function registerStatus(registrar: Registrar): void {
  const command = registrar.verb({
    usage: "status",
    description: "the cluster in a few sentences",
    examples: ["status", "status -o json"],
  });
  registrar.on(command, status);
}
