import { access, audit, cluster } from "./routers/access.ts";
import { drains } from "./routers/drains.ts";
import { keys, usage } from "./routers/keys.ts";
import { agents, routers } from "./routers/machines.ts";
import { models } from "./routers/models.ts";
import { nodes } from "./routers/nodes.ts";
import { placement } from "./routers/placement.ts";
import { replicas } from "./routers/replicas.ts";
import { router } from "./trpc.ts";

/** The whole management API. */
export const appRouter = router({
  cluster,
  nodes,
  models,
  replicas,
  placement,
  drains,
  routers,
  agents,
  keys,
  usage,
  audit,
  access,
});
export type AppRouter = typeof appRouter;

export type { Actor, AvailabilityChange, ControlPlane } from "./control-plane.ts";
export { done, type Outcome, type Refusal, refused } from "./outcome.ts";
export type { Context } from "./trpc.ts";
