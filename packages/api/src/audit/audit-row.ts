import type { inferRouterOutputs } from "@trpc/server";
import type { AppRouter } from "../server/root.ts";

/** A row of the audit as it comes over the wire: `before` and `after` may be left out. */
export type AuditRow = inferRouterOutputs<AppRouter>["audit"]["list"]["rows"][number];
