import { expect, test } from "vitest";
import { differences } from "./diff.ts";

test("only the places that differ are told, by their path", () => {
  const before = { replicas: 1, spec: { tp: 2, image: "a" }, labels: ["x"] };
  const after = { replicas: 3, spec: { tp: 2, image: "b" }, labels: ["x", "y"] };
  expect(differences(before, after)).toEqual([
    { path: "replicas", before: 1, after: 3 },
    { path: "spec.image", before: "a", after: "b" },
    { path: "labels", before: ["x"], after: ["x", "y"] },
  ]);
});

test("what was made or removed shows each of its places against nothing", () => {
  expect(differences(null, { a: 1, b: { c: 2 } })).toEqual([
    { path: "a", before: null, after: 1 },
    { path: "b.c", before: null, after: 2 },
  ]);
  expect(differences({ a: 1 }, undefined)).toEqual([{ path: "a", before: 1, after: null }]);
});

test("equal values, and nothing against nothing, have no difference", () => {
  expect(differences({ a: [1], b: null }, { a: [1] })).toEqual([]);
  expect(differences(null, undefined)).toEqual([]);
});
