#!/usr/bin/env node
// Runs the bundle of the command line while it is fresh, otherwise its TypeScript sources as they are.
import { fileURLToPath, pathToFileURL } from "node:url";
import { freshBundle } from "@llmgw/service/fresh-bundle";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const bundle = freshBundle({ root, app: "ctl", entry: "main.ts" });
if (bundle === null) {
  const { register } = await import("tsx/esm/api");
  register();
  await import("../src/main.ts");
} else {
  await import(pathToFileURL(bundle).href);
}
