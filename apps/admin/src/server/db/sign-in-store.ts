import type { AuditEntry } from "./audit.ts";
import type { Database } from "./database.ts";
import { write } from "./write.ts";

/** Makes a link that signs one browser in, once. Answers when it ends to work, by the database clock. */
export async function createLink(
  database: Database,
  link: { readonly sha256: string; readonly name: string; readonly role: string; readonly lifeMs: number },
  audit: AuditEntry,
): Promise<Date> {
  const written = await write(database, async (transaction) => {
    const expiresAt = new Date(transaction.nowMs + link.lifeMs);
    const { sha256, name, role } = link;
    await transaction.tx.signInLink.create({ data: { sha256, name, role, expiresAt } });
    transaction.audit(audit);
    return expiresAt;
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}

export interface NewSession {
  readonly sha256: string;
  readonly lifeMs: number;
}

/** Uses a link up and opens a session for its person. Null: there is no such link, or it is used or too old. */
export async function exchangeLink(
  database: Database,
  options: {
    readonly linkSha256: string;
    readonly session: NewSession;
    readonly audit: (name: string, role: string) => AuditEntry;
  },
): Promise<{ name: string; role: string } | null> {
  const { linkSha256, session, audit } = options;
  const written = await write(database, async ({ tx, nowMs, audit: record }) => {
    const now = new Date(nowMs);
    const { count } = await tx.signInLink.updateMany({
      where: { sha256: linkSha256, usedAt: null, expiresAt: { gt: now } },
      data: { usedAt: now },
    });
    if (count !== 1) return null;
    const link = await tx.signInLink.findUniqueOrThrow({ where: { sha256: linkSha256 } });
    const { name, role } = link;
    await tx.session.create({
      data: { sha256: session.sha256, name, role, expiresAt: new Date(nowMs + session.lifeMs) },
    });
    record(audit(name, role));
    return { name, role };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}
