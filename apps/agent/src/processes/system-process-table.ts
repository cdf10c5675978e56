import { existsSync } from "node:fs";
import { linuxProcessTable } from "./linux-process-table.ts";
import type { ProcessTable } from "./process-table.ts";
import { psProcessTable } from "./ps-process-table.ts";

/** This machine's process table: /proc where there is one, else `ps`. */
export function systemProcessTable(): ProcessTable {
  return existsSync("/proc/self/stat") ? linuxProcessTable() : psProcessTable();
}
