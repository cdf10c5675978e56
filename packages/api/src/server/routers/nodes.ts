import { z } from "zod";
import { nodeInput, setAvailabilityInput } from "../../inputs.ts";
import { drainView } from "../../views/drain.ts";
import { nodeView } from "../../views/node.ts";
import { procedure, router, unwrap } from "../trpc.ts";

const change = z.object({ node: nodeView, drain: drainView.nullable(), message: z.string() });

export const nodes = router({
  list: procedure.output(z.array(nodeView).readonly()).query(({ ctx }) => ctx.control.nodes.list()),
  get: procedure
    .input(z.strictObject({ node: z.string() }))
    .output(nodeView)
    .query(async ({ ctx, input }) => unwrap(await ctx.control.nodes.get(input.node))),
  setAvailability: procedure
    .input(setAvailabilityInput)
    .output(change.extend({ also: z.array(change).readonly() }))
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.nodes.setAvailability(input, ctx.actor))),
  confirmLost: procedure
    .input(nodeInput)
    .output(nodeView)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.nodes.confirmLost(input, ctx.actor))),
  acceptInventory: procedure
    .input(nodeInput)
    .output(nodeView)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.nodes.acceptInventory(input, ctx.actor))),
  remove: procedure
    .input(nodeInput)
    .output(z.object({ name: z.string(), released: z.array(z.string()) }))
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.nodes.remove(input, ctx.actor))),
});
