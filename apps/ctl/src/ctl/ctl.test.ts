import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { treeRoot } from "../up/layout.ts";
import type { Connection } from "./connect.ts";
import { type ConnectOptions, optionsOf } from "./context.ts";
import { ctl, ctlProgram } from "./ctl.ts";
import { CtlError, exit } from "./exit.ts";
import { Registrar } from "./registrar.ts";
import { registrations } from "./registrations.ts";

interface Call {
  readonly path: string;
  readonly input: unknown;
}

let said = "";
const hear = (chunk: unknown) => {
  said += String(chunk);
  return true;
};
beforeEach(() => {
  said = "";
  vi.spyOn(process.stderr, "write").mockImplementation(hear);
  vi.spyOn(process.stdout, "write").mockImplementation(hear);
});
afterEach(() => vi.restoreAllMocks());

/** Answers that a command needs to come to the call that it is for. */
const answers: Readonly<Record<string, unknown>> = {
  "drains.list": [{ id: "drain_1" }],
  "nodes.get": { name: "sim-1" },
  "models.get": { id: "demo-8b", placed: 2, desired: 2, serving: 2, revision: 1, rollout: null },
  "keys.list": [],
};

/** Runs a command line against a cluster that notes each call and refuses those it has no answer to. */
async function run(...argv: string[]): Promise<{ code: number; calls: Call[]; where: ConnectOptions | null }> {
  const calls: Call[] = [];
  let where: ConnectOptions | null = null;
  const call = (path: string) => async (input: unknown) => {
    calls.push({ path, input });
    // Of one node or model itself the call is all that is wanted.
    const isForMore = !["nodes", "models", "drains"].includes(argv[0] ?? "");
    if (isForMore && Object.hasOwn(answers, path)) return answers[path];
    throw new CtlError(`reached ${path}`, exit.refused);
  };
  const node = (path: string): unknown =>
    new Proxy(
      {},
      {
        get: (_, name) =>
          name === "query" || name === "mutate" ? call(path) : node(`${path}${path && "."}${String(name)}`),
      },
    );
  const code = await ctl(
    argv,
    {},
    {
      connect: async (options) => {
        where = options;
        return { client: node("") as Connection["client"], url: "http://admin" };
      },
    },
  );
  return { code, calls, where };
}

const lastOf = async (...argv: string[]) => {
  const { code, calls } = await run(...argv);
  expect(code, said).toBe(exit.refused);
  return calls.at(-1);
};

test("every example of every help is a command line that is understood and reaches the cluster", async () => {
  const registrar = new Registrar(
    ctlProgram(),
    { env: {}, connect: () => Promise.reject(new Error("unused")) },
    () => undefined,
  );
  for (const load of new Set(Object.values(registrations))) (await load())(registrar);
  expect(registrar.examples.length).toBeGreaterThan(40);
  for (const example of registrar.examples) {
    const words = (example.replace(/ [<>].*$/, "").match(/"[^"]*"|\S+/g) ?? [])
      .map((word) => word.replaceAll('"', ""))
      .map((word, at, all) =>
        all[at - 1] === "-f" && all[0] === "apply" ? join(treeRoot, "examples/model.yaml") : word,
      );
    said = "";
    const { code, calls } = await run(...words);
    if (words[0] === "version") expect(code).toBe(exit.ok);
    else expect({ example, code, reached: calls.length > 0 }).toEqual({ example, code, reached: true });
    // Without a terminal these end at their question; all else gets past its parsing.
    const asking = new Set(["drain", "delete", "rm", "confirm-lost"]);
    const asks = words.slice(0, 2).some((word) => asking.has(word)) && !words.includes("--yes");
    if (!asks) expect({ example, code, said }).not.toMatchObject({ code: exit.usage });
  }
});

test("an option that a command shares with the one above it counts, wherever it stands", async () => {
  const force = { path: "drains.force", input: { drain: "drain_1" } };
  for (const flag of ["--yes", "-y"]) {
    expect(await lastOf("drain", "force", "sim-3", flag)).toEqual(force);
    expect(await lastOf("drain", "force", flag, "sim-3")).toEqual(force);
    expect(await lastOf("drain", flag, "force", "sim-3")).toEqual(force);
  }
  expect((await run("drain", "force", "sim-3")).code).toBe(exit.usage);
  expect(said).toContain("add --yes");
  for (const argv of [
    ["audit", "export", "--verb", "a.b"],
    ["audit", "--verb", "a.b", "export"],
  ]) {
    expect(await lastOf(...argv)).toMatchObject({ path: "audit.list", input: { verb: "a.b", limit: 500 } });
  }
});

test("an option that belongs to the command above only is refused, not ignored", async () => {
  for (const argv of [
    ["drain", "status", "sim-1", "--grace", "5m"],
    ["audit", "verify", "--limit", "5"],
    ["logs", "r", "-o", "json"],
    ["-o", "json", "logs", "r"],
  ]) {
    expect({ argv, code: (await run(...argv)).code }).toEqual({ argv, code: exit.usage });
  }
});

test("which cluster is meant can be said before and behind the command's name", async () => {
  for (const argv of [
    ["--data-dir", "/d", "nodes"],
    ["nodes", "--data-dir", "/d"],
    ["drain", "--data-dir", "/d", "status", "sim-1"],
  ]) {
    expect((await run(...argv)).where).toMatchObject({ dataDir: "/d" });
  }
});

test("the form of the output is taken from before and behind the command's name", () => {
  for (const argv of [
    ["-o", "json", "one"],
    ["one", "-o", "json"],
  ]) {
    const program = ctlProgram();
    const registrar = new Registrar(
      program,
      { env: {}, connect: () => Promise.reject(new Error("unused")) },
      () => undefined,
    );
    const one = registrar.verb({ usage: "one", description: "one", examples: [] });
    registrar.on(one, async ({ format }) => {
      expect(format).toBe("json");
      return exit.ok;
    });
    program.parse(argv, { from: "user" });
    expect(optionsOf(one)).toMatchObject({ output: "json" });
  }
});

test("wrong numbers, an unknown node and an unknown variable are told apart from everything else", async () => {
  expect((await run("audit", "--limit", "abc")).code).toBe(exit.usage);
  expect(said).toContain('--limit is "abc": expected a whole number from 1 to 500');
  said = "";
  expect((await run("scale", "m", "many")).code).toBe(exit.usage);
  expect(said).toContain('replicas is "many": expected a whole number');
  const first = (await run("replicas", "--node", "nope")).calls[0];
  expect(first).toEqual({ path: "nodes.get", input: { node: "nope" } });
  said = "";
  expect(await ctl(["nodes"], { LLMGW_FOO: "1" })).toBe(exit.usage);
  expect(said).toContain("LLMGW_FOO is not a setting of any llmgw program");
});
