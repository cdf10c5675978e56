import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile, writeFileAtomic } from "@llmgw/service";
import { type UsageBatch, usageBatch } from "@llmgw/wire";
import { aggregate, readRecords, type UsageRecord, writeRecord } from "./usage-record.ts";

export interface UsageJournalOptions {
  readonly dir: string;
  /** New with each process, later ones sorting after earlier ones. */
  readonly boot: string;
}

/** More than this is summed up even while nobody takes it: an admin that is away must not fill the disk. */
const MAX_OPEN_BYTES = 4_194_304;
const OPEN = /^(.+)-(\d{10})\.jsonl$/;
const SEALED = /^(.+)-(\d{10})\.json$/;

/**
 * What requests used, on disk until the admin has it. Each record is with the kernel before its request's answer ends, so that
 * a crash of the process loses none. Records are summed up into numbered batches, and a batch is kept under its number until it
 * was taken, so that it can be sent again and is counted once.
 */
export class UsageJournal {
  readonly #options: UsageJournalOptions;
  #seq = 1;
  #file: number | null = null;
  #bytes = 0;

  constructor(options: UsageJournalOptions) {
    this.#options = options;
  }

  /** Makes the folder, and sums up what earlier processes left. */
  async open(): Promise<void> {
    const { dir } = this.#options;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (const name of (await readdir(dir)).toSorted()) {
      const [, boot, seq] = OPEN.exec(name) ?? [];
      if (boot !== undefined && seq !== undefined) await this.#sealFile({ boot, seq: Number(seq) });
    }
  }

  /** True when there is so much that it should be sealed at once. */
  get isFull(): boolean {
    return this.#bytes >= MAX_OPEN_BYTES;
  }

  /** Throws when the disk does not take it. */
  append(record: UsageRecord): void {
    this.#file ??= openSync(this.#path(this.#current, "jsonl"), "a", 0o600);
    this.#bytes += writeSync(this.#file, writeRecord(record));
  }

  /** Closes the batch that is being filled, if there is something in it. */
  async seal(): Promise<void> {
    if (this.#file === null) return;
    const name = this.#current;
    closeSync(this.#file);
    this.#file = null;
    this.#bytes = 0;
    this.#seq += 1;
    await this.#sealFile(name);
  }

  /** The oldest batch that waits to be taken; null for none. A file that is no batch is passed by. */
  async oldest(): Promise<UsageBatch | null> {
    const { dir } = this.#options;
    for (const name of (await readdir(dir)).toSorted()) {
      if (!SEALED.test(name)) continue;
      const file = await readJsonFile(join(dir, name), usageBatch);
      if (file.kind === "ok") return file.value;
    }
    return null;
  }

  async remove({ boot, seq }: UsageBatch): Promise<void> {
    await rm(this.#path({ boot, seq }, "json"), { force: true });
  }

  get #current(): BatchName {
    return { boot: this.#options.boot, seq: this.#seq };
  }

  async #sealFile(name: BatchName): Promise<void> {
    const open = this.#path(name, "jsonl");
    const records = readRecords(await readFile(open, "utf8"));
    const batch: UsageBatch = { ...name, rows: aggregate(records) };
    // Written whole before the records go: after a crash in between they are summed up again, to the same.
    if (records.length > 0) await writeFileAtomic(this.#path(name, "json"), JSON.stringify(batch));
    await rm(open);
  }

  #path({ boot, seq }: BatchName, ending: "json" | "jsonl"): string {
    return join(this.#options.dir, `${boot}-${String(seq).padStart(10, "0")}.${ending}`);
  }
}

interface BatchName {
  readonly boot: string;
  readonly seq: number;
}
