import {
  agentJoinAnswer,
  agentJoinRequest,
  agentSyncAnswer,
  agentSyncRequest,
  routerSyncAnswer,
  routerSyncRequest,
  usageReport,
} from "@llmgw/wire";
import { z } from "zod";
import { routerView } from "../../views/access.ts";
import { procedure, router, unwrap } from "../trpc.ts";

export const agents = router({
  join: procedure
    .input(agentJoinRequest)
    .output(agentJoinAnswer)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.agents.join(input, ctx.actor))),
  /** The agents' long poll. */
  sync: procedure
    .input(agentSyncRequest)
    .output(agentSyncAnswer)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.agents.sync(input, ctx.actor, ctx.signal))),
});

export const routers = router({
  list: procedure.output(z.array(routerView).readonly()).query(({ ctx }) => ctx.control.routers.list()),
  /** The routers' long poll. */
  sync: procedure
    .input(routerSyncRequest)
    .output(routerSyncAnswer)
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.routers.sync(input, ctx.actor, ctx.signal))),
  /** One batch of usage; answered when it is stored for good. */
  reportUsage: procedure
    .input(usageReport)
    .output(z.object({ seq: z.int() }))
    .mutation(async ({ ctx, input }) => unwrap(await ctx.control.routers.reportUsage(input))),
});
