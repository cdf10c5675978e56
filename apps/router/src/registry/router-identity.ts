import { join } from "node:path";
import { newId, readJsonFile, writeFileAtomic } from "@llmgw/service";
import { z } from "zod";

const identity = z.object({ id: z.string().regex(/^router_[0-9a-f-]{36}$/) });

/** The router's id, kept in its data folder and made at the first start: a restarted router is the same one. */
export async function routerIdentity(dataDir: string): Promise<string> {
  const path = join(dataDir, "router.json");
  const file = await readJsonFile(path, identity);
  if (file.kind === "ok") return file.value.id;
  if (file.kind === "invalid") throw new Error(`${file.problem}. Delete it to start as a new router`);
  const id = newId("router");
  await writeFileAtomic(path, `${JSON.stringify({ id })}\n`);
  return id;
}
