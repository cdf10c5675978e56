import type { DrainView } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";
import { cut } from "../ctl/table.ts";
import { describeMove, stepOf } from "./words.ts";

/** Where progress is printed; a terminal's last line can be written anew. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * Prints a line, with the time, whenever a move comes to another step or waits for something else. What changes by the
 * second (a load, requests in flight, how long a replacement has served) is one line that a terminal repaints.
 */
export class Progress {
  readonly #output: ProgressOutput;
  readonly #now: () => Date;
  readonly #said = new Map<string, string>();

  constructor(output: ProgressOutput, now: () => Date = () => new Date()) {
    this.#output = output;
    this.#now = now;
  }

  show(drain: DrainView): void {
    this.clear();
    for (const move of drain.moves) this.#say(move.replicaId, stepOf(move), describeMove(move));
    const { waitingFor } = drain;
    const isSaid = drain.moves.some((move) => move.reason?.code === waitingFor?.code);
    if (drain.endedAt === null && waitingFor !== null && !isSaid)
      this.#say("", waitingFor.code, describeReason(waitingFor));
    for (const loss of drain.losses) {
      const line = `lost: ${loss.replicaId}: ${describeReason(loss.reason)}`;
      this.#say(`lost ${loss.replicaId}`, line, line);
    }
    this.#paint(drain);
  }

  /** Takes the repainted line away. */
  clear(): void {
    if (this.#output.isTTY === true) this.#output.write("\r\u001b[K");
  }

  #say(key: string, news: string, line: string): void {
    if (this.#said.get(key) === news) return;
    this.#said.set(key, news);
    this.#output.write(`${this.#now().toISOString().slice(0, 19)}Z  ${line}\n`);
  }

  #paint(drain: DrainView): void {
    if (this.#output.isTTY !== true || drain.endedAt !== null) return;
    const moving = drain.moves.filter(({ step }) => step !== "queued" && step !== "stopped");
    if (moving.length > 0)
      this.#output.write(cut(moving.map(describeMove).join(" · "), (this.#output.columns ?? 80) - 1));
  }
}
