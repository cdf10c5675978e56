// Generates the database client from prisma/schema.prisma, unless the schema is the one it was generated from.
import { pathToFileURL } from "node:url";
import { bin, fail, run, unlessFresh } from "./lib.mjs";

/** Generation is WebAssembly: the engine program that Prisma asks for is never run, so none is downloaded. */
export async function generateClient() {
  await unlessFresh({
    name: "Generating the database client",
    inputs: ["prisma/schema.prisma", "package-lock.json"],
    stamp: "apps/admin/src/server/db/generated/.llmgw-generated",
    work: async () => {
      const [node, prisma] = bin("prisma", "build/index.js");
      const env = {
        CHECKPOINT_DISABLE: "1",
        PRISMA_HIDE_UPDATE_MESSAGE: "1",
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      };
      const done = await run(node, [prisma, "generate", "--no-hints"], { env, quiet: true });
      if (done.code !== 0) {
        fail("prisma generate", done);
      }
    },
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await generateClient();
}
