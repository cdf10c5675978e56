import { expect, test } from "vitest";
import { spawnScript } from "./testing/spawn-script.ts";

async function run(body: string) {
  using script = spawnScript(`
    import { ConfigError, HelpRequested, runMain } from "@llmgw/service";
    await runMain(async () => { ${body} });
  `);
  const { code } = await script.ended;
  return { code, ...script.output() };
}

test("a configuration error is told problem by problem, without a stack, and ends with code 2", async () => {
  expect(await run('throw new ConfigError(["port is 0x", "name is empty"]);')).toEqual({
    code: 2,
    stdout: "",
    stderr: "error: port is 0x\nerror: name is empty\n",
  });
});

test("any other error ends with code 1, its stack and its causes", async () => {
  const { code, stderr } = await run('throw new Error("outer", { cause: new Error("inner") });');
  expect(code).toBe(1);
  expect(stderr).toMatch(/Error: outer\n\s+at [\s\S]*cause[\s\S]*Error: inner/);
});

test("asking for help prints it to standard output with code 0", async () => {
  expect(await run('throw new HelpRequested("Usage: x");')).toEqual({ code: 0, stdout: "Usage: x", stderr: "" });
});

test("a number is the exit code, even if a handle was left open", async () => {
  expect((await run("setInterval(() => {}, 1000); return 7;")).code).toBe(7);
});
