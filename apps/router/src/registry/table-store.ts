import { stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type JsonFile, readJsonFile, writeFileAtomic } from "@llmgw/service";
import { type EndpointTable, endpointTable } from "@llmgw/wire";

/** The last table on disk, for a start without an admin. It holds engine keys: mode 0600. */
export class TableStore {
  readonly #path: string;

  constructor(dataDir: string) {
    this.#path = join(dataDir, "table.json");
  }

  read(): Promise<JsonFile<EndpointTable>> {
    return readJsonFile(this.#path, endpointTable);
  }

  /** When an admin last said that the table on disk is the one in force, milliseconds since the epoch; null: never. */
  async confirmedAtMs(): Promise<number | null> {
    try {
      return (await stat(this.#path)).mtimeMs;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw error;
    }
  }

  /** Notes on disk that an admin has just said so. */
  async confirm(nowMs: number): Promise<void> {
    await utimes(this.#path, nowMs / 1_000, nowMs / 1_000);
  }

  async write(table: EndpointTable): Promise<void> {
    await writeFileAtomic(this.#path, JSON.stringify(table));
  }
}
