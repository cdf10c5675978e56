import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { requireConfigFile } from "./config-file.ts";
import { defaultRouterSettings } from "./settings.ts";

test("the example router.yaml is a valid file whose optional part shows the defaults", async () => {
  const { config } = await requireConfigFile(fileURLToPath(import.meta.resolve("../../../../examples/router.yaml")));
  expect(config.settings).toEqual(defaultRouterSettings);
  expect(config.table.models[0]?.endpoints.map(({ state }) => state)).toEqual(["serving", "serving", "draining"]);
});
