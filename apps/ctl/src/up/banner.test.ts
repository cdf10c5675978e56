import { expect, test } from "vitest";
import { ctlCommand } from "./banner.ts";
import { defaultDataDir } from "./layout.ts";

test("the printed command reaches this cluster: with its data folder unless that is the usual one", () => {
  expect(ctlCommand(defaultDataDir())).toBe("npx llmgw ctl");
  expect(ctlCommand("/tmp/second")).toBe("npx llmgw ctl --data-dir /tmp/second");
  expect(ctlCommand("/tmp/it's mine")).toBe("npx llmgw ctl --data-dir '/tmp/it'\\''s mine'");
});
