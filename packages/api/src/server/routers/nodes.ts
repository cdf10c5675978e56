import { z } from "zod";
import { setAvailabilityInput } from "../../inputs.ts";
import { drainView } from "../../views/drain.ts";
import { nodeView } from "../../views/node.ts";
import { procedure, router, unwrap } from "../trpc.ts";

export const nodes = router({
  list: procedure.output(z.array(nodeView).readonly()).query(({ ctx }) => ctx.control.nodes.list()),
  get: procedure
    .input(z.strictObject({ node: z.string() }))
    .output(nodeView)
    .query(async ({ ctx, input }) => unwrap(await ctx.control.nodes.get(input.node))),
  setAvailability: procedure
    .input(setAvailabilityInput)
    .output(z.object({ node: nodeView, drain: drainView.nullable(), message: z.string() }))
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.nodes.setAvailability(input, ctx.actor))),
});
