import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { ConfigError, HelpRequested } from "./config-error.ts";
import { knownVariables } from "./known-variables.ts";
import { parseSettings, readSettings, type SettingsInput } from "./parse-settings.ts";
import { duration, listenAddress } from "./setting-schemas.ts";
import { defineSettings, type SettingsDefinition } from "./settings.ts";

const definition = defineSettings(
  {
    listen: {
      env: "LLMGW_ROUTER_LISTEN",
      flag: "listen",
      schema: listenAddress,
      default: "127.0.0.1:8080",
      help: "where clients connect",
      valueName: "HOST:PORT",
    },
    keysMaxAgeMs: { env: "LLMGW_KEYS_MAX_AGE", schema: duration, default: 86_400_000, help: "age of known keys" },
    simulated: { flag: "simulated", env: "LLMGW_TEST_SIMULATED", schema: z.boolean(), default: false, help: "no GPU" },
    token: { env: "LLMGW_TOKEN", flag: "token", schema: z.string().min(8).optional(), help: "a token", secret: true },
  },
  { program: "llmgw router", summary: "Relays inference requests." },
);

const read = (input: Partial<SettingsInput>) => parseSettings(definition, { argv: [], env: {}, ...input });

function problemsOf(input: Partial<SettingsInput>, of: SettingsDefinition = definition): readonly string[] {
  try {
    parseSettings(of, { argv: [], env: {}, ...input });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("a flag wins over the environment, which wins over the default", () => {
  expect(read({}).listen).toEqual({ host: "127.0.0.1", port: 8080 });
  const env = { LLMGW_ROUTER_LISTEN: "0.0.0.0:1" };
  expect(read({ env }).listen).toEqual({ host: "0.0.0.0", port: 1 });
  expect(read({ env, argv: ["--listen", "[::1]:2"] }).listen).toEqual({ host: "::1", port: 2 });
  expect(read({ env, argv: ["--listen=a:3", "--listen=b:4"] }).listen).toEqual({ host: "b", port: 4 });
  expect(readSettings(definition, { argv: ["--simulated"], env }).sources).toEqual({
    listen: "env",
    keysMaxAgeMs: "default",
    simulated: "flag",
    token: "default",
  });
});

test("an empty variable counts as unset, and the values have the schemas' types", () => {
  const settings = read({ env: { LLMGW_ROUTER_LISTEN: "", LLMGW_TOKEN: "" } });
  expect(settings).toEqual({
    listen: { host: "127.0.0.1", port: 8080 },
    keysMaxAgeMs: 86_400_000,
    simulated: false,
    token: undefined,
  });
  expectTypeOf(settings.keysMaxAgeMs).toEqualTypeOf<number>();
  expectTypeOf(settings.token).toEqualTypeOf<string | undefined>();
});

test("a switch takes no value, can be negated, and reads words from the environment", () => {
  expect(read({ argv: ["--simulated", "--listen", "a:1"] }).simulated).toBe(true);
  expect(read({ argv: ["--no-simulated"], env: { LLMGW_TEST_SIMULATED: "1" } }).simulated).toBe(false);
  expect(read({ argv: ["--simulated=off"] }).simulated).toBe(false);
  expect(read({ env: { LLMGW_TEST_SIMULATED: "yes" } }).simulated).toBe(true);
  expect(problemsOf({ env: { LLMGW_TEST_SIMULATED: "maybe" } })).toEqual([
    expect.stringMatching(/^LLMGW_TEST_SIMULATED is "maybe": .*expected boolean/),
  ]);
});

test("every problem is reported at once, each with its name, the value found and what was expected", () => {
  const problems = problemsOf({
    argv: ["--listen", "8080", "--simulatd", "extra"],
    env: { LLMGW_KEYS_MAX_AGE: "a day", LLMGW_TOKEN: "hunter2", LLMGW_ROUTER_LISTN: "x", OTHER_VARIABLE: "y" },
  });
  expect(problems).toEqual([
    "unknown flag --simulatd; did you mean --simulated?",
    "LLMGW_ROUTER_LISTN is not a setting of any llmgw program; did you mean LLMGW_ROUTER_LISTEN?",
    '--listen is "8080": expected host:port, such as 127.0.0.1:8080 (IPv6 in brackets: [::1]:8080)',
    expect.stringMatching(/^LLMGW_KEYS_MAX_AGE is "a day": expected a duration/),
    expect.stringMatching(/^LLMGW_TOKEN is a value \(not shown\): /),
  ]);
  expect(problems.join()).not.toContain("hunter2");
});

test("a flag without its value, a stray word and a required setting that is not set are problems", () => {
  expect(problemsOf({ argv: ["--listen", "--simulated"] })).toEqual(["--listen needs a value: --listen=VALUE"]);
  expect(problemsOf({ argv: ["serve"] })).toEqual(['unexpected argument "serve": this program takes only flags']);
  const required = defineSettings({ url: { env: "DATABASE_URL", flag: "db", schema: z.string(), help: "database" } });
  expect(problemsOf({}, required)).toEqual([expect.stringMatching(/^DATABASE_URL or --db is not set: /)]);
});

test("variables of the other llmgw programs are accepted", () => {
  expect(problemsOf({ env: Object.fromEntries(knownVariables.map((name) => [name, ""])) })).toEqual([]);
});

test("--help lists every setting with its flag, variable and default, and no secret's default", () => {
  const ask = () => parseSettings(definition, { argv: ["--listen", "bad", "--help"], env: {} });
  expect(ask).toThrow(HelpRequested);
  try {
    ask();
  } catch (error) {
    const text = error instanceof HelpRequested ? error.text : "";
    expect(text).toMatchInlineSnapshot(`
      "Usage: llmgw router [flags]

      Relays inference requests.

      Flags (each also as the environment variable in brackets; a flag wins):
        --listen HOST:PORT  where clients connect
                            [LLMGW_ROUTER_LISTEN] default 127.0.0.1:8080
        (environment only)  age of known keys
                            [LLMGW_KEYS_MAX_AGE] default 86400000
        --simulated         no GPU
                            [LLMGW_TEST_SIMULATED] default false
        --token VALUE       a token
                            [LLMGW_TOKEN]
        --help              print this help and exit
      "
    `);
  }
});

test("two settings under one name are a bug of the program", () => {
  const setting = { flag: "a", schema: z.string(), help: "" };
  expect(() => defineSettings({ one: setting, two: setting })).toThrow('setting "two" uses --a, which is taken');
});
