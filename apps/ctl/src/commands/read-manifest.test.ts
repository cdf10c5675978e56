import { expect, test } from "vitest";
import { stringify } from "yaml";
import { demoModel } from "../up/demo.ts";
import { readManifest } from "./read-manifest.ts";

const problemOf = (text: string) => {
  try {
    readManifest(text, "m.yaml");
    return "none";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

test("a file that is no model says what was found, what was expected and what to do", () => {
  const { source: _, ...sourceless } = demoModel;
  expect(problemOf(stringify(sourceless))).toBe(
    "m.yaml is not a model:\n  source is missing: expected one of { hub: OWNER/NAME }, { path: FOLDER } or { external: [URL, …] }",
  );
  expect(problemOf(stringify({ ...demoModel, source: { hub: "a/b", path: "c" } }))).toContain(
    'source is {"hub":"a/b","path":"c"}: expected one of',
  );
  expect(problemOf(stringify({ ...demoModel, replica: 2 }))).toContain('there is no field "replica"');
  expect(problemOf(stringify({ ...demoModel, replicas: "two" }))).toContain('replicas is "two": expected number');
  expect(problemOf(stringify({ ...demoModel, id: undefined }))).toContain("id is missing: expected string");
  expect(problemOf("a: 1\n---\nb: 2\n")).toContain(
    "holds 2 YAML documents (separated by ---): expected one model a file",
  );
  expect(problemOf("")).toContain("m.yaml is empty");
  expect(problemOf("a: [1")).toContain("m.yaml is not YAML");
});
