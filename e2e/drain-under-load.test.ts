import { expect, test } from "vitest";
import { Cluster } from "./harness/cluster.ts";
import { drainAndFollow } from "./harness/ctl.ts";
import { drainUnderLoad } from "./harness/drain-under-load.ts";
import { oneGpuModel } from "./harness/models.ts";

test("draining the node of the only replica by ctl under load fails no request, cuts none and empties the node", async () => {
  await using cluster = await Cluster.start({ nodes: ["sim:1x80GiB", "sim:1x80GiB"], routers: 2 });
  await cluster.deploy(oneGpuModel);
  await drainUnderLoad(cluster, {
    actor: { actorKind: "token", actor: "first operator token" },
    drain: async ({ from, reason }) => {
      const { code, output } = await drainAndFollow(cluster, from, ["--reason", reason]);
      expect(code, output).toBe(0);
    },
  });
}, 400_000);
