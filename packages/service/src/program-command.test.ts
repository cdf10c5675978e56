import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";
import { programCommand } from "./program-command.ts";

const root = mkdtempSync(join(tmpdir(), "llmgw-program-"));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, second: number): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "");
  utimesSync(join(root, path), second, second);
}

test("a program runs from its bundle only while that is newer than every source of it", () => {
  writeFileSync(join(root, "package.json"), "{}");
  symlinkSync(resolve(import.meta.dirname, "../../../node_modules"), join(root, "node_modules"));
  write("apps/agent/src/main.ts", 100);
  write("packages/domain/src/deep/place.ts", 100);
  const command = () => programCommand({ root, app: "agent", entry: "main.ts" }).at(-1);
  expect(command()).toBe(join(root, "apps/agent/src/main.ts"));

  write("apps/agent/build/main.mjs", 200);
  expect(command()).toBe(join(root, "apps/agent/build/main.mjs"));
  write("packages/domain/src/deep/place.test.ts", 300);
  expect(command()).toBe(join(root, "apps/agent/build/main.mjs"));
  write("packages/domain/src/deep/place.ts", 300);
  expect(command()).toBe(join(root, "apps/agent/src/main.ts"));
});
