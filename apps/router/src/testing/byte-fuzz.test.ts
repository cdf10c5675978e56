import { expect, test } from "vitest";
import { fuzzBytes } from "./byte-fuzz.ts";

test("bytes of generated requests, answers and streams are the same at both ends, however the network cuts them", async () => {
  expect(await fuzzBytes(Array.from({ length: 200 }, (_, index) => index + 1))).toEqual([]);
}, 120_000);
