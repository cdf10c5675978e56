import { expect, test } from "vitest";
import { newId, uuidv7 } from "./ids.ts";

test("the example of RFC 9562, appendix A.6, is reproduced", () => {
  const random = Buffer.from("0cc318c4dc0c0c07398f", "hex");
  expect(uuidv7(0x017f22e279b0, random)).toBe("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
});

test("ids carry their kind, are unique, and sort by the millisecond they were made in", () => {
  const ids = [1_000, 2_000, 1_700_000_000_000, 1_900_000_000_000].map((nowMs) => newId("node", nowMs));
  expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids);
  expect(new Set(Array.from({ length: 1_000 }, () => newId("node", 5))).size).toBe(1_000);
  expect(newId("replica")).toMatch(/^replica_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
