import { type Actor, type ControlPlane, done } from "@llmgw/api/server";
import { newSecret, sha256Hex } from "@llmgw/service";
import { createLink, exchangeLink } from "../../db/sign-in-store.ts";
import { actorAudit } from "./actor-audit.ts";
import type { UseCaseDependencies } from "./dependencies.ts";

export function accessUseCases({ database, settings }: UseCaseDependencies): ControlPlane["access"] {
  return {
    createSignInLink: async ({ name }, actor) => {
      const token = newSecret("llmgw_link_");
      const link = { sha256: sha256Hex(token), name, role: "admin", lifeMs: settings.signInLinkMs };
      const audit = actorAudit(actor, { verb: "access.createSignInLink", target: name, after: { role: link.role } });
      const expiresAt = await createLink(database, link, audit);
      return done({ path: `/sign-in?token=${token}`, expiresAt: expiresAt.toISOString() });
    },
  };
}

/** Uses a sign-in link up. Answers the secret of a new session, or null for a link that does not work. */
export async function signInWithLink(
  { database, settings }: Pick<UseCaseDependencies, "database" | "settings">,
  token: string,
  from: { readonly sourceAddress: string; readonly requestId: string },
): Promise<string | null> {
  const secret = newSecret("llmgw_session_");
  const exchanged = await exchangeLink(database, {
    linkSha256: sha256Hex(token),
    session: { sha256: sha256Hex(secret), lifeMs: settings.sessionMs },
    audit: (name, role) => {
      const actor = { kind: "user", id: "", name, permission: role, ...from } as Actor;
      return actorAudit(actor, { verb: "access.signIn", target: name });
    },
  });
  return exchanged === null ? null : secret;
}
