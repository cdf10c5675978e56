import { z } from "zod";
import { createKeyInput, revokeKeyInput, updateKeyInput, usageInput } from "../../inputs.ts";
import { createdKey, keyChange, keyView, usageView } from "../../views/key.ts";
import { procedure, router, unwrap } from "../trpc.ts";

export const keys = router({
  list: procedure.output(z.array(keyView).readonly()).query(({ ctx }) => ctx.control.keys.list()),
  /** The only answer that tells the secret. */
  create: procedure
    .input(createKeyInput)
    .output(createdKey)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.keys.create(input, ctx.actor, ctx.signal))),
  update: procedure
    .input(updateKeyInput)
    .output(keyChange)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.keys.update(input, ctx.actor, ctx.signal))),
  revoke: procedure
    .input(revokeKeyInput)
    .output(keyChange)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.keys.revoke(input, ctx.actor, ctx.signal))),
});

export const usage = router({
  list: procedure
    .input(usageInput)
    .output(z.array(usageView).readonly())
    .query(async ({ ctx, input }) => unwrap(await ctx.control.usage.list(input))),
});
