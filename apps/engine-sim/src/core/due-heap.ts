/** Something that happens to a sequence at an instant. `epoch` tells a due entry from one that has been superseded. */
interface Due<T> {
  readonly atMs: number;
  readonly epoch: number;
  readonly subject: T;
}

/** Binary min-heap by instant; equal instants keep no order beyond that. */
export interface DueHeap<T> {
  push(due: Due<T>): void;
  peek(): Due<T> | undefined;
  pop(): Due<T> | undefined;
  size(): number;
}

export function createDueHeap<T>(): DueHeap<T> {
  const items: Due<T>[] = [];

  const before = (left: number, right: number) =>
    (items[left]?.atMs ?? Number.POSITIVE_INFINITY) < (items[right]?.atMs ?? Number.POSITIVE_INFINITY);
  const swap = (left: number, right: number) => {
    const held = items[left];
    const other = items[right];
    if (held !== undefined && other !== undefined) {
      items[left] = other;
      items[right] = held;
    }
  };

  return {
    push(due) {
      items.push(due);
      let at = items.length - 1;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        if (!before(at, parent)) {
          return;
        }
        swap(at, parent);
        at = parent;
      }
    },
    peek: () => items[0],
    pop() {
      swap(0, items.length - 1);
      const top = items.pop();
      let at = 0;
      for (;;) {
        const left = 2 * at + 1;
        let smallest = at;
        if (left < items.length && before(left, smallest)) {
          smallest = left;
        }
        if (left + 1 < items.length && before(left + 1, smallest)) {
          smallest = left + 1;
        }
        if (smallest === at) {
          return top;
        }
        swap(at, smallest);
        at = smallest;
      }
    },
    size: () => items.length,
  };
}
