import { type ControlPlane, done } from "@llmgw/api/server";
import { readStoredKeys } from "../../db/key-store.ts";
import { readUsage } from "../../db/usage-store.ts";
import { type UseCaseDependencies, unknown } from "./dependencies.ts";

export function usageUseCases({ database, clock }: UseCaseDependencies): ControlPlane["usage"] {
  return {
    list: async ({ from, to, key, model }) => {
      const keys = await readStoredKeys(database);
      const named = key === undefined ? undefined : keys.findLast(({ id, name }) => id === key || name === key);
      if (key !== undefined && named === undefined) {
        return unknown(
          "key",
          key,
          keys.map(({ name }) => name),
        );
      }
      const until = to === undefined ? new Date(clock.nowMs()) : new Date(to);
      const rows = await readUsage(database, { from: new Date(from), to: until, keyId: named?.id, model });
      const names = new Map(keys.map(({ id, name }) => [id, name]));
      return done(rows.map((row) => ({ ...row, keyName: names.get(row.keyId) ?? null })));
    },
  };
}
