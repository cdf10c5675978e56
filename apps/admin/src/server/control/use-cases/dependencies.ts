import { refused } from "@llmgw/api/server";
import type { ControlSettings } from "@llmgw/domain";
import { type BuildInfo, type Clock, didYouMean } from "@llmgw/service";
import type { ClusterIdentity } from "../../db/cluster-row.ts";
import type { Database } from "../../db/database.ts";
import { readWorld, type World } from "../../db/world.ts";
import type { AdminSettings } from "../settings.ts";
import type { Attention } from "../sync/attention.ts";
import type { LogRequests } from "../sync/log-requests.ts";
import { type ViewContext, viewContext } from "../views/context.ts";

/** What the use-cases work with. */
export interface UseCaseDependencies {
  readonly database: Database;
  readonly cluster: ClusterIdentity;
  readonly settings: AdminSettings;
  readonly attention: Attention;
  readonly logs: LogRequests;
  /** An operator changed something: the control loop should look, and held polls be answered. */
  readonly onChanged: () => void;
  readonly build: BuildInfo;
  readonly routerUrl: string | null;
  readonly clock: Clock;
}

/** The cluster as it is now, for one view or decision. Whoever reads it looks, and gets fresher numbers next. */
export async function look(dependencies: UseCaseDependencies): Promise<ViewContext> {
  dependencies.attention.look();
  return contextOf(await readWorld(dependencies.database), dependencies);
}

export function contextOf(world: World, dependencies: { settings: { control: ControlSettings } }): ViewContext {
  return viewContext(world, dependencies.settings.control);
}

/** "There is no node "sim-9". Did you mean "sim-1"?" */
export function unknown(what: string, found: string, known: readonly string[]) {
  const near = didYouMean(found, known);
  const hint =
    near !== undefined
      ? ` Did you mean "${near}"?`
      : known.length === 0
        ? ` There is no ${what} yet.`
        : known.length <= 10
          ? ` Known: ${known.join(", ")}.`
          : "";
  return refused({ kind: "not_found", message: `There is no ${what} "${found}".${hint}` });
}
