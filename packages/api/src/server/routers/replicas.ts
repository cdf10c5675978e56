import { z } from "zod";
import { drainReplicaInput, logsInput, replicasInput } from "../../inputs.ts";
import { drainView } from "../../views/drain.ts";
import { nodeView } from "../../views/node.ts";
import { placementRecordView, replicaView } from "../../views/replica.ts";
import { procedure, router, unwrap } from "../trpc.ts";

export const replicas = router({
  list: procedure
    .input(replicasInput.prefault({}))
    .output(z.array(replicaView).readonly())
    .query(({ ctx, input }) => ctx.control.replicas.list(input)),
  get: procedure
    .input(z.strictObject({ replica: z.string() }))
    .output(z.object({ replica: replicaView, record: placementRecordView.nullable() }))
    .query(async ({ ctx, input }) => unwrap(await ctx.control.replicas.get(input.replica))),
  drain: procedure
    .input(drainReplicaInput)
    .output(z.object({ node: nodeView, drain: drainView.nullable(), message: z.string() }))
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.replicas.drain(input, ctx.actor))),
  logs: procedure
    .input(logsInput)
    .output(z.object({ lines: z.array(z.string()), truncated: z.boolean() }))
    .query(async ({ ctx, input }) => unwrap(await ctx.control.replicas.logs(input, ctx.signal))),
});
