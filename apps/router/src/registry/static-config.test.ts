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

  test("takes bands of its own, with ceilings for them, and keys that name them", () => {
    const keys = [{ id: "a", secret: "s", models: ["*"], maxBand: "low", limits: { requestsPerMinute: 5 } }];
    const reading = readStaticConfig({ keys, models: [], admission: { bands: ["high", "low"] } }, 1);
    if (reading.kind === "invalid") throw new Error(reading.problems.join());
    expect(reading.config.settings.admission).toMatchObject({ bands: ["high", "low"], ceilings: [1, 0.8] });
    expect(reading.config.table.keys[0]?.limits).toEqual({
      requestsPerMinute: 5,
      tokensPerMinute: null,
      concurrent: null,
    });
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
    [{ ...minimal, models: [{ id: "m", endpoints: [], policy: "random" }] }, "models[0].policy: expected one of"],
    [
      { ...minimal, models: [{ id: "m", endpoints: [{ id: "e", url: "http://a", engine: "tgi" }] }] },
      "models[0].endpoints[0].engine: expected vllm, sglang",
    ],
    [{ ...minimal, keys: [{ id: "a", secret: "s", models: [], limits: { rpm: 5 } }] }, "keys[0].limits.rpm: unknown"],
    [
      { ...minimal, keys: [{ id: "a", secret: "s", models: [], maxBand: "gold" }] },
      "keys[0].maxBand: found gold, expected one of interactive, standard, batch",
    ],
    [
      { ...minimal, admission: { ceilings: [1, 0.8] } },
      "admission.ceilings: found 2 of them, expected one for each of 3",
    ],
    [{ ...minimal, admission: { ceilings: [0.8, 1, 1] } }, "admission.ceilings: expected 1 for the first band"],
    [{ ...minimal, admission: { bands: ["a", "a"] } }, "admission.bands: expected each band once"],
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
