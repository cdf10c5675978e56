import { type ModelManifest, modelManifest } from "@llmgw/wire";
import { parseAllDocuments } from "yaml";
import type { z } from "zod";
import { CtlError, exit } from "../ctl/exit.ts";

/** What a person can be told of a field whose schema is a choice of shapes. */
const expectations: Readonly<Record<string, string>> = {
  source: "one of { hub: OWNER/NAME }, { path: FOLDER } or { external: [URL, …] }",
};

/** A `model.yaml` as its author wrote it, checked. Throws a `CtlError` that names every field that is not right. */
export function readManifest(text: string, filename: string): ModelManifest {
  const documents = parseAllDocuments(text);
  const [document] = documents;
  if (!Array.isArray(documents) || document === undefined) {
    throw new CtlError(`${filename} is empty: expected a model, as in examples/model.yaml`, exit.usage);
  }
  if (documents.length > 1) {
    const found = `${filename} holds ${documents.length} YAML documents (separated by ---)`;
    throw new CtlError(`${found}: expected one model a file. Split it, and apply each file`, exit.usage);
  }
  const [problem] = document.errors;
  if (problem !== undefined) {
    throw new CtlError(`${filename} is not YAML: ${problem.message}`, exit.usage, { cause: problem });
  }
  const value: unknown = document.toJS();
  const checked = modelManifest.safeParse(value);
  if (checked.success) return value as ModelManifest; // what was just checked
  const problems = checked.error.issues.map((issue) => `  ${describeIssue(issue, value)}`);
  throw new CtlError(`${filename} is not a model:\n${problems.join("\n")}`, exit.usage);
}

function describeIssue(issue: z.core.$ZodIssue, value: unknown): string {
  const path = issue.path.join(".");
  const found = at(value, issue.path);
  const where = path === "" ? "the file" : path;
  const expected = expectations[path] ?? issue.message;
  if (issue.code === "unrecognized_keys") {
    return `${where}: there is no field ${issue.keys.map((key) => `"${key}"`).join(", ")}; examples/model.yaml shows all`;
  }
  if (found === undefined) return `${where} is missing: expected ${expected.replace(/^.*expected /, "")}`;
  return `${where} is ${JSON.stringify(found)}: expected ${expected.replace(/^.*expected /, "").replace(/, (?:received|found) .*$/, "")}`;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}
