import { modelManifest } from "@llmgw/wire";
import { z } from "zod";
import { modelView } from "../../views/model.ts";
import { procedure, router, unwrap } from "../trpc.ts";

const why = z.string().max(500).optional();

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
  /** To the revision that the latest rollout came from, or to the one named. */
  rollback: procedure
    .input(z.strictObject({ model: z.string(), revision: z.int().min(1).optional(), reason: why }))
    .output(modelView)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.models.rollback(input, ctx.actor))),
  /** Lets a rollout that finds no room end the last replica that serves, too. */
  acceptGap: procedure
    .input(z.strictObject({ model: z.string(), reason: why }))
    .output(modelView)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.models.acceptGap(input, ctx.actor))),
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
