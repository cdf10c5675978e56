import { describe, expect, test } from "vitest";
import { defaultRouterSettings } from "./settings.ts";
import { readStaticConfig } from "./static-config.ts";

const minimal = { keys: [], models: [] };

function problems(document: unknown): readonly string[] {
  const reading = readStaticConfig(document, 1);
  return reading.kind === "invalid" ? reading.problems : [];
}

describe("router.yaml", () => {
  test("needs only keys and models; everything else has its default", () => {
    const reading = readStaticConfig(minimal, 1);
    expect(reading.kind === "ok" ? reading.config.settings : null).toEqual(defaultRouterSettings);
  });

  test("takes durations as people write them", () => {
    const reading = readStaticConfig({ ...minimal, timeouts: { idleMs: "30s" }, breaker: { failures: 3 } }, 1);
    if (reading.kind === "invalid") throw new Error(reading.problems.join());
    expect(reading.config.settings.timeouts.idleMs).toBe(30_000);
    expect(reading.config.settings.timeouts.progressMs).toBe(300_000);
    expect(reading.config.settings.breaker).toMatchObject({ failures: 3, successes: 2 });
  });

  test("keeps only the hash of a key's secret", () => {
    const reading = readStaticConfig({ ...minimal, keys: [{ id: "a", secret: "sk-canary", models: ["*"] }] }, 1);
    expect(JSON.stringify(reading)).not.toContain("canary");
  });

  test.each<[object, string]>([
    [{ ...minimal, timeout: {} }, "timeout: unknown field"],
    [{ ...minimal, timeouts: { idle: 5 } }, "timeouts.idle: unknown field"],
    [{ models: [] }, "keys: "],
    [{ ...minimal, models: [{ id: "m", endpoints: [{ id: "e", url: "nope" }] }] }, "models[0].endpoints[0].url: "],
    [
      { ...minimal, models: [{ id: "m", endpoints: [], usageInjection: true }] },
      "models[0].usageInjection: not supported yet",
    ],
    [
      { ...minimal, models: [{ id: "m", endpoints: [], policy: "prefix" }] },
      "models[0].policy: policy prefix is not supported yet",
    ],
    [
      { ...minimal, models: [{ id: "m", endpoints: [{ id: "e", url: "http://a", engine: "sglang" }] }] },
      "models[0].endpoints[0].engine: engine sglang is not supported yet",
    ],
    [{ ...minimal, keys: [{ id: "a", secret: "s", models: [], limits: {} }] }, "keys[0].limits: not supported yet"],
    [{ ...minimal, admission: { ceilings: [1, 0.8, 0.6] } }, "admission.ceilings: not supported yet"],
    [{ ...minimal, cors: { origins: ["https://a.example/"] } }, "cors.origins[0]: expected "],
    [
      {
        ...minimal,
        models: [
          { id: "m", aliases: ["n"], endpoints: [] },
          { id: "n", endpoints: [] },
        ],
      },
      "n is the id or alias of two models",
    ],
  ])("%j is refused with the field's path", (document, words) => {
    expect(problems(document).join("\n")).toContain(words);
  });
});
