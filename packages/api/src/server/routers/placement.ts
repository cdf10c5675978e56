import { explainInput } from "../../inputs.ts";
import { placementRecordView } from "../../views/replica.ts";
import { procedure, router, unwrap } from "../trpc.ts";

export const placement = router({
  explain: procedure
    .input(explainInput)
    .output(placementRecordView)
    .query(async ({ ctx, input }) => unwrap(await ctx.control.placement.explain(input))),
});
