import { z } from "zod";
import { drainsInput, previewInput } from "../../inputs.ts";
import { drainPreview, drainView } from "../../views/drain.ts";
import { procedure, router, unwrap } from "../trpc.ts";

const why = z.string().max(500).optional();

export const drains = router({
  list: procedure
    .input(drainsInput.prefault({}))
    .output(z.array(drainView).readonly())
    .query(({ ctx, input }) => ctx.control.drains.list(input)),
  get: procedure
    .input(z.strictObject({ drain: z.string() }))
    .output(drainView)
    .query(async ({ ctx, input }) => unwrap(await ctx.control.drains.get(input.drain))),
  preview: procedure
    .input(previewInput)
    .output(drainPreview)
    .query(async ({ ctx, input }) => unwrap(await ctx.control.drains.preview(input))),
  extend: procedure
    .input(z.strictObject({ drain: z.string(), graceMs: z.int().min(0), reason: why }))
    .output(drainView)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.drains.extend(input, ctx.actor))),
  stop: procedure
    .input(z.strictObject({ drain: z.string(), uncordon: z.boolean().default(false), reason: why }))
    .output(drainView)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.drains.stop(input, ctx.actor))),
  force: procedure
    .input(z.strictObject({ drain: z.string(), reason: why }))
    .output(drainView)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.drains.force(input, ctx.actor))),
});
