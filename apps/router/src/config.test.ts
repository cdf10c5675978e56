import { ConfigError } from "@llmgw/service";
import { describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";

function problemsOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  try {
    readConfig({ argv, env });
    return "";
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join("\n");
    throw error;
  }
}

describe("the router's settings", () => {
  test("name either a file or an admin, not both", () => {
    expect(problemsOf(["--config", "x.yaml"], { LLMGW_ADMIN_URL: "http://127.0.0.1:7070" })).toContain(
      "are both given",
    );
    expect(problemsOf(["--config", "x.yaml"])).toBe("");
  });

  test("want a token where there is no file", () => {
    expect(problemsOf([])).toContain("LLMGW_ROUTER_TOKEN is not set");
    expect(problemsOf([], { LLMGW_ROUTER_TOKEN: "t" })).toBe("");
  });

  test("refuse to send the token in the clear to another machine", () => {
    const env = { LLMGW_ROUTER_TOKEN: "t", LLMGW_ADMIN_URL: "http://admin.example:7070" };
    expect(problemsOf([], env)).toContain("LLMGW_ADMIN_URL");
    expect(problemsOf([], { ...env, LLMGW_ALLOW_PLAINTEXT: "1" })).toBe("");
    expect(problemsOf([], { ...env, LLMGW_ADMIN_URL: "https://admin.example" })).toBe("");
  });

  test("know which of them somebody gave", () => {
    const config = readConfig({ argv: ["--config", "x.yaml", "--listen", "127.0.0.1:0"], env: {} });
    expect([config.isGiven("listen"), config.isGiven("diagnosticsListen")]).toEqual([true, false]);
  });
});
