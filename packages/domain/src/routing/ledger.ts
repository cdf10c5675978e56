/** A point in a ledger's life, to count from: taken when a scrape starts. */
export interface LedgerMark {
  readonly sent: number;
  readonly finished: number;
}

/** One request's place in a ledger. Its owner releases it once; releasing again does nothing. */
export interface LedgerSlot {
  release(): void;
}

/**
 * Counts the requests sent to one endpoint and not finished yet. The count only changes through slots, each of which
 * gives back exactly the one it took, so it is never negative and returns to 0 whatever way requests end.
 */
export class Ledger {
  #sent = 0;
  #finished = 0;

  get inflight(): number {
    return this.#sent - this.#finished;
  }

  acquire(): LedgerSlot {
    this.#sent += 1;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#finished += 1;
      },
    };
  }

  mark(): LedgerMark {
    return { sent: this.#sent, finished: this.#finished };
  }

  sentSince(mark: LedgerMark): number {
    return this.#sent - mark.sent;
  }

  finishedSince(mark: LedgerMark): number {
    return this.#finished - mark.finished;
  }
}
