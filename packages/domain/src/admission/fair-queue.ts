/** A waiting item's place in a queue. It stays valid until the item is taken or leaves. */
export interface QueueNode<T> {
  readonly item: T;
  readonly bytes: number;
  readonly joinedAtMs: number;
  readonly owner: Owner<T>;
  previous: QueueNode<T> | undefined;
  next: QueueNode<T> | undefined;
  isQueued: boolean;
}

/** The items of one owner, oldest first, and its place in the ring of owners that have some. */
interface Owner<T> {
  readonly name: string;
  head: QueueNode<T> | undefined;
  tail: QueueNode<T> | undefined;
  /** Its neighbours in the ring. */
  before: Owner<T>;
  after: Owner<T>;
}

/**
 * A queue that is fair between owners: each owner's items go first in, first out, and the owners take turns. Somebody with a
 * thousand items waiting delays somebody with one by a single turn. Every operation takes constant time.
 */
export class FairQueue<T> {
  readonly #owners = new Map<string, Owner<T>>();
  /** Whose turn it is. */
  #turn: Owner<T> | undefined;
  #count = 0;
  #bytes = 0;

  get count(): number {
    return this.#count;
  }

  /** Sum of the items' bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  join(
    item: T,
    { owner: name, bytes, joinedAtMs }: { owner: string; bytes: number; joinedAtMs: number },
  ): QueueNode<T> {
    const owner = this.#owners.get(name) ?? this.#enter(name);
    const node: QueueNode<T> = {
      item,
      bytes,
      joinedAtMs,
      owner,
      previous: owner.tail,
      next: undefined,
      isQueued: true,
    };
    if (owner.tail === undefined) owner.head = node;
    else owner.tail.next = node;
    owner.tail = node;
    this.#count += 1;
    this.#bytes += bytes;
    return node;
  }

  /** The item whose turn it is; undefined when nobody waits. */
  first(): QueueNode<T> | undefined {
    return this.#turn?.head;
  }

  /** Takes an item; if it was its owner's turn, the next turn is the next owner's. False if it was not waiting any more. */
  take(node: QueueNode<T>): boolean {
    const { owner } = node;
    if (this.#turn === owner) this.#turn = owner.after;
    return this.leave(node);
  }

  /** Takes an item out of its place; false if it was not waiting any more. */
  leave(node: QueueNode<T>): boolean {
    if (!node.isQueued) return false;
    node.isQueued = false;
    const { owner, previous, next } = node;
    if (previous === undefined) owner.head = next;
    else previous.next = next;
    if (next === undefined) owner.tail = previous;
    else next.previous = previous;
    this.#count -= 1;
    this.#bytes -= node.bytes;
    if (owner.head === undefined) this.#exit(owner);
    return true;
  }

  #enter(name: string): Owner<T> {
    const owner = { name, head: undefined, tail: undefined } as Owner<T>; // its neighbours are set right below
    const turn = this.#turn;
    if (turn === undefined) {
      owner.before = owner;
      owner.after = owner;
      this.#turn = owner;
    } else {
      owner.before = turn.before;
      owner.after = turn;
      turn.before.after = owner;
      turn.before = owner;
    }
    this.#owners.set(name, owner);
    return owner;
  }

  #exit(owner: Owner<T>): void {
    this.#owners.delete(owner.name);
    owner.before.after = owner.after;
    owner.after.before = owner.before;
    if (this.#turn === owner) this.#turn = owner.after === owner ? undefined : owner.after;
  }
}
