import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@llmgw/service";
import { afterAll, expect, test } from "vitest";
import { Child } from "./child.ts";

const folder = mkdtempSync(join(tmpdir(), "llmgw-child-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function child(options: {
  readonly script: string;
  readonly established: boolean;
  readonly say: (line: string) => void;
}) {
  return new Child(
    {
      name: "admin",
      command: [process.execPath, "-e", options.script],
      env: {},
      logFile: join(folder, "admin.log"),
      stopMs: 5_000,
      established: () => options.established,
    },
    systemClock,
    options.say,
  );
}

const misconfigured = 'console.error("error: credentials.json is not JSON"); process.exitCode = 2;';

test("a program that is started wrongly ends the coming up, with the end of its log", async () => {
  const running = child({ script: misconfigured, established: false, say: () => undefined }).run(
    new AbortController().signal,
  );
  await expect(running).rejects.toThrow("admin cannot start:\nerror: credentials.json is not JSON");
});

test("once the cluster runs, such a program is tried again, and nothing else ends", async () => {
  const stop = new AbortController();
  const said: string[] = [];
  const say = (line: string) => {
    said.push(line);
    if (said.filter((one) => one.includes("starting it again")).length === 2) stop.abort();
  };
  await child({ script: misconfigured, established: true, say }).run(stop.signal);
  expect(said[0]).toContain("credentials.json is not JSON");
  expect(said[1]).toBe("admin ended (exit code 2); starting it again in 0.5 s");
  expect(said[3]).toBe("admin ended (exit code 2); starting it again in 1 s");
});
