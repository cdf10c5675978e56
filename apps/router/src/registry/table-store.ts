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

  async write(table: EndpointTable): Promise<void> {
    await writeFileAtomic(this.#path, JSON.stringify(table));
  }
}
