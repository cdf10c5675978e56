import type { KeyView } from "@llmgw/api";
import { type Actor, type ControlPlane, done, type Outcome, refused } from "@llmgw/api/server";
import { newId, newSecret, sha256Hex } from "@llmgw/service";
import {
  createKey,
  type KeyChanged,
  type KeyFields,
  readStoredKeys,
  revokeKey,
  type StoredKey,
  updateKey,
} from "../../db/key-store.ts";
import { routersBehind } from "../../db/router-reports.ts";
import { actorAudit } from "./actor-audit.ts";
import { type UseCaseDependencies, unknown } from "./dependencies.ts";

/** How long the answer to a change waits for the routers: they have it in force well within that. */
const CONFIRM_MS = 2_000;
const LOOK_MS = 50;
const PREFIX_LENGTH = 14;

export function keyUseCases(dependencies: UseCaseDependencies): ControlPlane["keys"] {
  const { database } = dependencies;
  return {
    list: async () => (await readStoredKeys(database)).map(keyView),
    create: async ({ name, reason, expiresAt, ...fields }, actor, signal) => {
      const secret = newSecret("llmgw_sk_");
      const key = {
        ...fields,
        id: newId("key"),
        name,
        prefix: secret.slice(0, PREFIX_LENGTH),
        sha256: sha256Hex(secret),
        expiresAt: expiresAt === null ? null : new Date(expiresAt),
      };
      const changed = await createKey(database, key, (after) =>
        actorAudit(actor, { verb: "keys.create", target: key.id, after, reason }),
      );
      const outcome = await confirmed(dependencies, { changed, key: name, signal });
      return outcome.ok ? done({ ...outcome.value, secret }) : outcome;
    },
    update: async ({ key, reason, expiresAt, ...given }, actor, signal) => {
      const fields: KeyFields = {
        ...withoutUndefined(given),
        ...(expiresAt === undefined ? {} : { expiresAt: expiresAt === null ? null : new Date(expiresAt) }),
      };
      const changed = await updateKey(database, { key, fields }, (target, before, after) =>
        actorAudit(actor, { verb: "keys.update", target, before, after, reason }),
      );
      return await confirmed(dependencies, { changed, key, signal });
    },
    revoke: async ({ key, reason }, actor: Actor, signal) => {
      const changed = await revokeKey(database, key, (target) =>
        actorAudit(actor, { verb: "keys.revoke", target, reason }),
      );
      return await confirmed(dependencies, { changed, key, signal });
    },
  };
}

function keyView({ createdAt, expiresAt, revokedAt, models, ...key }: StoredKey): KeyView {
  return {
    ...key,
    models: [...models],
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}

/** Waits until the live routers have the change in force, and names those that do not say so in time. */
async function confirmed(
  { database, clock, settings, onChanged }: UseCaseDependencies,
  { changed, key, signal }: { readonly changed: KeyChanged; readonly key: string; readonly signal: AbortSignal },
): Promise<Outcome<{ key: KeyView; unconfirmedRouters: string[] }>> {
  switch (changed.kind) {
    case "unknown":
      return unknown("key", key, changed.known);
    case "name_taken":
      return refused({ kind: "conflict", message: `There is a key named "${key}" already. Choose another name.` });
    case "revoked":
      return refused({ kind: "conflict", message: `Key "${key}" has been revoked for good. Create another one.` });
    case "done":
  }
  onChanged();
  const untilMs = clock.monotonicMs() + CONFIRM_MS;
  const question = { version: changed.version, leaseMs: settings.control.routerLeaseMs };
  let behind = await routersBehind(database, question);
  while (behind.length > 0 && clock.monotonicMs() < untilMs && !signal.aborted) {
    await clock.sleep(LOOK_MS, signal);
    behind = await routersBehind(database, question);
  }
  return done({ key: keyView(changed.key), unconfirmedRouters: behind });
}

function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
