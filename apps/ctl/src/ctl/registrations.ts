import type { Registrar } from "./registrar.ts";

export type Registration = (registrar: Registrar) => void;

const availability = async () => (await import("../commands/availability.ts")).registerAvailability;
const models = async () => (await import("../commands/models.ts")).registerModels;
const drain = async () => (await import("../commands/drain.ts")).registerDrain;

/** What adds each command, by the command's name and in the order of the help. Loaded when it is needed. */
export const registrations: Readonly<Record<string, () => Promise<Registration>>> = {
  status: async () => (await import("../commands/status.ts")).registerStatus,
  nodes: async () => (await import("../commands/nodes.ts")).registerNodes,
  models,
  apply: models,
  scale: models,
  delete: models,
  rollout: async () => (await import("../commands/rollout.ts")).registerRollout,
  replicas: async () => (await import("../commands/replicas.ts")).registerReplicas,
  "explain-placement": async () => (await import("../commands/explain-placement.ts")).registerExplainPlacement,
  cordon: availability,
  uncordon: availability,
  drain,
  drains: async () => (await import("../commands/drains.ts")).registerDrains,
  routers: async () => (await import("../commands/routers.ts")).registerRouters,
  keys: async () => (await import("../commands/keys.ts")).registerKeys,
  usage: async () => (await import("../commands/usage.ts")).registerUsage,
  logs: async () => (await import("../commands/logs.ts")).registerLogs,
  audit: async () => (await import("../commands/audit.ts")).registerAudit,
  "sign-in": async () => (await import("../commands/sign-in.ts")).registerSignIn,
  version: async () => (await import("../commands/version.ts")).registerVersion,
};
