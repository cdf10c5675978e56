import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";
import { migrationAdapter } from "./sql-adapter.ts";

/** No table or enum is managed from outside. */
export const noFilters = { externalTables: [], externalEnums: [] };

let loading: Promise<void> | undefined;
let lastPanic: string | undefined;

/**
 * Gives `use` Prisma's own migration engine on a database. The engine is the WebAssembly build, which npm brings; the
 * native one would have to be downloaded.
 */
export async function withSchemaEngine<T>(
  databaseUrl: string,
  use: (engine: bindings.SchemaEngine) => Promise<T>,
): Promise<T> {
  loading ??= load();
  await loading;
  await using adapter = migrationAdapter(databaseUrl);
  const bound = bindMigrationAwareSqlAdapterFactory(adapter.factory);
  const engine = await bindings.SchemaEngine.new({ datamodels: undefined }, () => undefined, bound);
  let result: T;
  try {
    result = await use(engine);
  } catch (cause) {
    if (cause instanceof WebAssembly.RuntimeError) {
      // The engine cannot be used, nor freed, after a panic.
      throw new Error(`Prisma's migration engine failed: ${lastPanic ?? cause.message}`, { cause });
    }
    engine.free();
    throw cause;
  }
  engine.free();
  return result;
}

/** The package's own entry imports the `.wasm` file as a module, which Node 20 does only behind a flag. */
async function load(): Promise<void> {
  const entry = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const bytes = await readFile(path.join(path.dirname(entry), "schema_engine_bg.wasm"));
  // Where the engine's bindings put the words of a panic; without it they fail themselves and hide it.
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: {
      set_message: (message: string) => {
        lastPanic = message;
      },
    },
  });
  const { instance } = await WebAssembly.instantiate(bytes, { "./schema_engine_bg.js": { ...bindings } });
  bindings.__wbg_set_wasm(instance.exports);
  const { __wbindgen_start: start } = instance.exports;
  if (typeof start !== "function") {
    throw new Error("@prisma/schema-engine-wasm has no __wbindgen_start");
  }
  start();
}
