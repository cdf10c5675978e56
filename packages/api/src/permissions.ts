/**
 * Who may call what: the one table that tRPC, the dashboard and ctl read. `viewer` < `operator` < `admin` are roles of
 * people and operator tokens; `join`, `agent` and `router` are the machines' own credentials and reach nothing else.
 */
export const permissions = {
  "cluster.get": "viewer",
  "cluster.whoAmI": "viewer",
  "nodes.list": "viewer",
  "nodes.get": "viewer",
  "nodes.setAvailability": "operator",
  "nodes.confirmLost": "operator",
  "nodes.acceptInventory": "operator",
  "nodes.remove": "admin",
  "models.list": "viewer",
  "models.get": "viewer",
  "models.applySpec": "operator",
  "models.rollback": "operator",
  "models.acceptGap": "operator",
  "models.scale": "operator",
  "models.delete": "admin",
  "replicas.list": "viewer",
  "replicas.get": "viewer",
  "replicas.drain": "operator",
  "replicas.logs": "viewer",
  "placement.explain": "viewer",
  "drains.list": "viewer",
  "drains.get": "viewer",
  "drains.preview": "viewer",
  "drains.extend": "operator",
  "drains.stop": "operator",
  "drains.force": "operator",
  "routers.list": "viewer",
  "keys.list": "viewer",
  "keys.create": "admin",
  "keys.update": "admin",
  "keys.revoke": "admin",
  "usage.list": "viewer",
  "audit.list": "viewer",
  "audit.verify": "operator",
  "access.createSignInLink": "admin",
  "agents.join": "join",
  "agents.sync": "agent",
  "routers.sync": "router",
  "routers.reportUsage": "router",
} as const;

export type ProcedurePath = keyof typeof permissions;
export type Permission = (typeof permissions)[ProcedurePath];

const rank: Partial<Record<Permission, number>> = { viewer: 1, operator: 2, admin: 3 };

/** Whether a holder of `held` may call what needs `needed`. Machine credentials never stand in for a role. */
export function permits(held: Permission, needed: Permission): boolean {
  const heldRank = rank[held];
  const neededRank = rank[needed];
  return heldRank === undefined || neededRank === undefined ? held === needed : heldRank >= neededRank;
}
