import { modelManifest } from "@llmgw/wire";
import { z } from "zod";
import { modelView } from "../../views/model.ts";
import { procedure, router, unwrap } from "../trpc.ts";

export const models = router({
  list: procedure.output(z.array(modelView).readonly()).query(({ ctx }) => ctx.control.models.list()),
  get: procedure
    .input(z.strictObject({ model: z.string() }))
    .output(modelView)
    .query(async ({ ctx, input }) => unwrap(await ctx.control.models.get(input.model))),
  /** `ctl apply`. tRPC reserves the plain word `apply` for functions. */
  applySpec: procedure
    .input(modelManifest)
    .output(z.object({ model: modelView, change: z.enum(["created", "updated", "unchanged"]) }))
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.models.apply(input, ctx.actor))),
  scale: procedure
    .input(
      z.strictObject({ model: z.string(), replicas: z.int().min(0).max(1000), reason: z.string().max(500).optional() }),
    )
    .output(modelView)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.models.scale(input, ctx.actor))),
  delete: procedure
    .input(z.strictObject({ model: z.string(), reason: z.string().max(500).optional() }))
    .output(modelView)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.models.delete(input, ctx.actor))),
});
