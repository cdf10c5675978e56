import fc from "fast-check";
import { expect, test } from "vitest";
import { Ledger, type LedgerSlot } from "./ledger.ts";

test("a ledger is never negative, counts each slot once however often it is released, and returns to 0", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constant("acquire" as const), fc.nat(30))), (steps) => {
      const ledger = new Ledger();
      const slots: LedgerSlot[] = [];
      const open = new Set<LedgerSlot>();
      for (const step of steps) {
        if (step === "acquire") {
          const slot = ledger.acquire();
          slots.push(slot);
          open.add(slot);
        } else {
          const slot = slots[step];
          slot?.release();
          if (slot !== undefined) open.delete(slot);
        }
        expect(ledger.inflight).toBe(open.size);
      }
      for (const slot of slots) slot.release();
      expect(ledger.inflight).toBe(0);
    }),
  );
});

test("what happened since a mark is counted from that mark", () => {
  const ledger = new Ledger();
  const before = ledger.acquire();
  const mark = ledger.mark();
  ledger.acquire();
  before.release();
  expect([ledger.sentSince(mark), ledger.finishedSince(mark), ledger.inflight]).toEqual([1, 1, 1]);
});
