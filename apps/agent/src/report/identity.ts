import { readJsonFile, writeFileAtomic } from "@llmgw/service";
import { agentJoinAnswer } from "@llmgw/wire";
import type { z } from "zod";

/** Which node this agent is, and the credential that proves it. */
export type Identity = z.infer<typeof agentJoinAnswer>;

/** The identity that an earlier join left in the data folder; null when there is none. A damaged file throws. */
export async function readIdentity(path: string): Promise<Identity | null> {
  const file = await readJsonFile(path, agentJoinAnswer);
  switch (file.kind) {
    case "ok":
      return file.value;
    case "absent":
      return null;
    case "invalid":
      throw new Error(`${file.problem}; restore it, or remove it to join again with LLMGW_JOIN_TOKEN`);
  }
}

/** Keeps an identity, readable for this user only. */
export async function writeIdentity(path: string, identity: Identity): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(identity)}\n`, { mode: 0o600 });
}
