import { readFileSync } from "node:fs";
import { join } from "node:path";
import { modelManifest } from "@llmgw/wire";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { treeRoot } from "../up/layout.ts";

test("the example model is valid and its second half shows the defaults", () => {
  const text = readFileSync(join(treeRoot, "examples/model.yaml"), "utf8");
  const spec = modelManifest.parse(parse(text));
  const [head = ""] = text.split("# From here on: the defaults.");
  expect(spec).toEqual(modelManifest.parse(parse(head)));
  expect(spec.engine.name).toBe("sim");
});

test("every model.yaml that the README shows is valid", () => {
  const readme = readFileSync(join(treeRoot, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, yaml = ""]) => parse(yaml) as unknown);
  const models = blocks.filter((block) => typeof block === "object" && block !== null && "kind" in block);
  expect(models.length).toBeGreaterThan(0);
  for (const model of models) modelManifest.parse(model);
});
