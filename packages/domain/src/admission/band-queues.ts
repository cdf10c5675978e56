export interface QueueLimits {
  /** Per band. */
  readonly maxRequests: number;
  /** Per band: bytes of request bodies that wait. */
  readonly maxBytes: number;
}

/** A waiting item's place. It stays valid until the item is taken or removed. */
export interface Place<T> {
  readonly item: T;
  readonly rank: number;
  readonly bytes: number;
}

interface Node<T> extends Place<T> {
  previous: Node<T> | undefined;
  next: Node<T> | undefined;
  isQueued: boolean;
}

interface Band<T> {
  head: Node<T> | undefined;
  tail: Node<T> | undefined;
  count: number;
  bytes: number;
}

/** What a dispatcher says of one waiting item: it has gone, it cannot go yet, or nobody can. */
export type Placement = "placed" | "held" | "stop";

/** First-in-first-out queues of one model, one per band; band 0 goes first. Leaving is as cheap as joining. */
export class BandQueues<T> {
  readonly #bands: Band<T>[];
  #size = 0;

  constructor(bandCount: number) {
    this.#bands = Array.from({ length: bandCount }, () => ({ head: undefined, tail: undefined, count: 0, bytes: 0 }));
  }

  /** Items waiting over all bands. */
  get size(): number {
    return this.#size;
  }

  depth(rank: number): number {
    return this.#bands[rank]?.count ?? 0;
  }

  /** Joins the end of a band's queue, or its front (a retry, which has waited before). Null when the band is full. */
  join(item: T, options: JoinOptions): Place<T> | null {
    const { rank, bytes, limits, atFront = false } = options;
    const band = this.#band(rank);
    const isFull = band.count >= limits.maxRequests || (band.count > 0 && band.bytes + bytes > limits.maxBytes);
    if (isFull && !atFront) return null;
    const node: Node<T> = { item, rank, bytes, previous: undefined, next: undefined, isQueued: true };
    if (atFront) link(band, node, { before: band.head });
    else link(band, node, { after: band.tail });
    band.count += 1;
    band.bytes += bytes;
    this.#size += 1;
    return node;
  }

  /** Takes a waiting item out; false if it was not waiting any more. */
  leave(place: Place<T>): boolean {
    const node = place as Node<T>; // the queue made every Place itself, as a Node
    if (!node.isQueued) return false;
    const band = this.#band(node.rank);
    node.isQueued = false;
    if (node.previous === undefined) band.head = node.next;
    else node.previous.next = node.next;
    if (node.next === undefined) band.tail = node.previous;
    else node.next.previous = node.previous;
    band.count -= 1;
    band.bytes -= node.bytes;
    this.#size -= 1;
    return true;
  }

  /** Offers the waiting items to `place` in order, band by band, until it says `stop`. Items it placed have left. */
  dispatch(place: (item: T) => Placement): void {
    for (const band of this.#bands) {
      for (let node = band.head; node !== undefined; ) {
        const { next } = node;
        const placement = place(node.item);
        if (placement === "stop") return;
        if (placement === "placed") this.leave(node);
        node = next;
      }
    }
  }

  #band(rank: number): Band<T> {
    const band = this.#bands[rank];
    if (band === undefined) throw new Error(`no band of rank ${rank}: there are ${this.#bands.length}`);
    return band;
  }
}

export interface JoinOptions {
  readonly rank: number;
  readonly bytes: number;
  readonly limits: QueueLimits;
  readonly atFront?: boolean;
}

function link<T>(
  band: Band<T>,
  node: Node<T>,
  at: { before?: Node<T> | undefined; after?: Node<T> | undefined },
): void {
  node.previous = at.after;
  node.next = at.before;
  if (at.after === undefined) band.head = node;
  else at.after.next = node;
  if (at.before === undefined) band.tail = node;
  else at.before.previous = node;
}
