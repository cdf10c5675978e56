import { z } from "zod";
import { auditInput } from "../../inputs.ts";
import { auditVerification, auditView, clusterView, whoAmI } from "../../views/access.ts";
import { procedure, router, unwrap } from "../trpc.ts";

export const cluster = router({
  get: procedure.output(clusterView).query(({ ctx }) => ctx.control.cluster.get()),
  whoAmI: procedure.output(whoAmI).query(({ ctx }) => {
    const role = ctx.actor.permission;
    if (role !== "viewer" && role !== "operator" && role !== "admin") {
      throw new Error("a machine credential passed a check that only roles pass");
    }
    return { kind: ctx.actor.kind === "user" ? ("session" as const) : ("token" as const), name: ctx.actor.name, role };
  }),
});

export const audit = router({
  list: procedure
    .input(auditInput.prefault({}))
    .output(z.object({ rows: z.array(auditView), nextBefore: z.int().nullable() }))
    .query(({ ctx, input }) => ctx.control.audit.list(input)),
  verify: procedure.output(auditVerification).query(({ ctx }) => ctx.control.audit.verify(ctx.signal)),
});

export const access = router({
  createSignInLink: procedure
    .input(z.strictObject({ name: z.string().min(1).max(100).default("operator") }).prefault({}))
    .output(z.object({ path: z.string(), expiresAt: z.string() }))
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.access.createSignInLink(input, ctx.actor))),
});
