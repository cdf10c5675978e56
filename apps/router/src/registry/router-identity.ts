import { join } from "node:path";
import { type Logger, newId, readJsonFile, writeFileAtomic } from "@llmgw/service";
import { z } from "zod";

const identity = z.object({ id: z.string().regex(/^router_[0-9a-f-]{36}$/) });

/**
 * The router's id, kept in its data folder and made at the first start: a restarted router is the same one. A file that
 * cannot be understood makes it a new router, since serving goes before being known again.
 */
export async function routerIdentity(dataDir: string, log: Logger): Promise<string> {
  const path = join(dataDir, "router.json");
  const file = await readJsonFile(path, identity);
  if (file.kind === "ok") return file.value.id;
  if (file.kind === "invalid")
    log.warn({ problem: file.problem }, "the id of this router is lost: starting as a new one");
  const id = newId("router");
  await writeFileAtomic(path, `${JSON.stringify({ id })}\n`);
  return id;
}
