import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { printOne } from "../ctl/output.ts";
import { plural } from "../ctl/program-name.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl status`: the cluster in one sentence. */
async function status(context: CommandContext): Promise<number> {
  const { client } = await context.connection();
  const cluster = await client.cluster.get.query();
  printOne(cluster, context.format, () => {
    const { nodes, gpus, models, openDrains } = cluster;
    return [
      `${cluster.id}${cluster.simulated ? " (simulated nodes)" : ""}, llmgw ${cluster.build.version}, version ${cluster.version}`,
      `${nodes.live} of ${plural(nodes.total, "node")} live, ${nodes.draining} draining, ${nodes.cordoned} cordoned; ${gpus.excluded} of ${plural(gpus.total, "GPU")} excluded`,
      `${plural(models.total, "model")}, ${models.belowDesired} below desired; ${cluster.replicas.serving} of ${plural(cluster.replicas.total, "replica")} serve; ${plural(openDrains, "drain")} open`,
      `${plural(cluster.routers.live, "router")} live, ${cluster.routers.silent} silent; control loop: ${cluster.leader ?? "nobody holds the lease"}`,
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
