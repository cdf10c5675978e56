import type { Actor, ControlPlane } from "@llmgw/api/server";
import { done, refused } from "@llmgw/api/server";
import { verifyAudit } from "../../db/audit-chain/verify.ts";
import { readAudit } from "../../db/audit-reader.ts";
import { joinNode } from "../../db/node-identity.ts";
import { recordRefused } from "../../db/refused.ts";
import { takeUsage } from "../../db/usage-store.ts";
import type { AgentSync } from "../sync/agent-sync.ts";
import type { RouterSync } from "../sync/router-sync.ts";
import { clusterView, routerViews } from "../views/cluster-view.ts";
import { holderWords } from "../words.ts";
import { accessUseCases } from "./access.ts";
import { actorAudit } from "./actor-audit.ts";
import { look, type UseCaseDependencies } from "./dependencies.ts";
import { drainUseCases } from "./drains.ts";
import { keyUseCases } from "./keys.ts";
import { modelUseCases } from "./models.ts";
import { nodeUseCases } from "./nodes.ts";
import { placementUseCases } from "./placement.ts";
import { replicaUseCases } from "./replicas.ts";
import { usageUseCases } from "./usage.ts";

/** All use-cases behind the management API. */
export function createControlPlane(
  dependencies: UseCaseDependencies,
  sync: { readonly agents: AgentSync; readonly routers: RouterSync },
): ControlPlane {
  const { database, cluster, build, routerUrl } = dependencies;
  return {
    cluster: {
      get: async () => clusterView(await look(dependencies), { clusterId: cluster.id, build, routerUrl }),
    },
    nodes: nodeUseCases(dependencies),
    models: modelUseCases(dependencies),
    replicas: replicaUseCases(dependencies),
    placement: placementUseCases(dependencies),
    drains: drainUseCases(dependencies),
    routers: {
      list: async () => routerViews(await look(dependencies)),
      sync: (request, actor, signal) => sync.routers.sync(request, actor, signal),
      reportUsage: async (report) => {
        await takeUsage(database, report);
        return done({ seq: report.batch.seq });
      },
    },
    keys: keyUseCases(dependencies),
    usage: usageUseCases(dependencies),
    agents: {
      join: (request, actor) => join(dependencies, request, actor),
      sync: (request, actor, signal) => sync.agents.sync(request, actor, signal),
    },
    audit: {
      list: (input) => readAudit(database, input),
      verify: (signal) => verifyAudit(database, signal),
      refused: (actor, { verb, target, outcome, message }) =>
        recordRefused(
          database,
          actorAudit(actor, {
            verb,
            target: target ?? verb,
            outcome,
            after: message === undefined ? null : { message },
          }),
        ),
    },
    access: accessUseCases(dependencies),
  };
}

async function join(
  { database, cluster, settings }: UseCaseDependencies,
  request: Parameters<ControlPlane["agents"]["join"]>[0],
  actor: Actor,
): ReturnType<ControlPlane["agents"]["join"]> {
  const joined = await joinNode(database, {
    request,
    silentAfterMs: settings.control.lostAfterMs,
    audit: (nodeId, isNew) =>
      actorAudit(actor, {
        verb: "agents.join",
        target: request.name,
        after: { nodeId, isNew, machineId: request.machineId, simulated: request.simulated },
      }),
  });
  if (joined.kind === "name_taken") {
    const message = `The node name "${request.name}" is in use: ${holderWords(joined.holder)}. This is machine ${request.machineId}. Join under another name (LLMGW_NODE_NAME).`;
    return refused({ kind: "conflict", message });
  }
  return done({ nodeId: joined.nodeId, credential: joined.credential, clusterId: cluster.id });
}
