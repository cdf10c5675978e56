import fc from "fast-check";
import { expect, test } from "vitest";
import { endOfPlainText } from "./json-bytes.ts";

test("plain text ends at the first quote, backslash or control character, whatever bytes stand around it", () => {
  const byte = fc.oneof(fc.nat(255), fc.constantFrom(0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xff));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), fc.nat(40), fc.nat(40), (list, first, second) => {
      const bytes = Uint8Array.from(list);
      const [start = 0, stopAt = 0] = [first % (list.length + 1), second % (list.length + 1)].sort((a, b) => a - b);
      const found = list.slice(start, stopAt).findIndex((value) => value < 0x20 || value === 0x22 || value === 0x5c);
      expect(endOfPlainText(new DataView(bytes.buffer), start, stopAt)).toBe(found === -1 ? stopAt : start + found);
    }),
    { numRuns: 2_000 },
  );
});
