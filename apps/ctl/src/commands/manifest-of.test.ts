import { readFileSync } from "node:fs";
import { join } from "node:path";
import { modelManifest } from "@llmgw/wire";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { demoModel } from "../up/demo.ts";
import { treeRoot } from "../up/layout.ts";
import { manifestOf } from "./manifest-of.ts";
import { readManifest } from "./read-manifest.ts";

const everything = {
  ...demoModel,
  source: { external: ["http://10.0.0.1:8000"] },
  engine: { name: "external", version: "1.2", env: { A: "b" } },
  pool: "night",
  resources: { memoryPerGpu: "1536MiB", context: 4096, tp: 2, shareGpu: true },
  place: { nodes: ["sim-1"], labels: { rack: "a" }, gpus: ["*H100*"] },
  routing: { policy: "session", maxInflight: 7, usageInjection: true, timeouts: { firstByte: "90s", idle: 1500 } },
  drain: { grace: "1h30m" },
  load: { max: "45m", stall: "10m" },
};

test("the YAML of a model is a document that apply reads as the very same spec", () => {
  const example: unknown = parse(readFileSync(join(treeRoot, "examples/model.yaml"), "utf8"));
  for (const written of [demoModel, everything, { ...demoModel, source: { path: "models/a" } }, example]) {
    const spec = modelManifest.parse(written);
    const printed = stringify(manifestOf(spec));
    expect(modelManifest.parse(readManifest(printed, "printed.yaml"))).toEqual(spec);
  }
});
