import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  defaultSaturationLimits,
  type EndpointLoad,
  endpointSaturation,
  fullness,
  modelSaturation,
  predictedWaiting,
} from "./saturation.ts";

const idle: EndpointLoad = {
  inflight: 0,
  maxInflight: 256,
  maxConcurrent: 8,
  reading: { running: 0, waiting: 0, kvUsageRatio: 0 },
  sentSinceScrape: 0,
  finishedSinceScrape: 0,
};

describe("saturation", () => {
  test("does not close an idle engine for a handful of dispatches between two scrapes", () => {
    const load = { ...idle, inflight: 8, sentSinceScrape: 8 };
    expect(predictedWaiting(load)).toBe(0);
    expect(endpointSaturation(load, defaultSaturationLimits)).toBe(0);
    expect(endpointSaturation({ ...load, sentSinceScrape: 13 }, defaultSaturationLimits)).toBe(1);
  });

  test("is the larger of waiting over 5 and KV usage over 0.8, and may exceed 1", () => {
    const load = { ...idle, reading: { running: 8, waiting: 2, kvUsageRatio: 0.4 } };
    expect(endpointSaturation(load, defaultSaturationLimits)).toBeCloseTo(0.5);
    const full = { ...idle, reading: { running: 8, waiting: 20, kvUsageRatio: 0.4 } };
    expect(endpointSaturation(full, defaultSaturationLimits)).toBe(4);
  });

  test.each<[string, Partial<EndpointLoad>]>([
    ["the numbers are stale", { reading: null }],
    ["nobody knows how much the engine runs at once", { maxConcurrent: null }],
    ["the engine does not say how many wait", { reading: { running: 3, waiting: null, kvUsageRatio: null } }],
  ])("goes by requests in flight when %s", (_why, change) => {
    const load = { ...idle, inflight: 64, maxInflight: 128, ...change };
    expect(endpointSaturation(load, defaultSaturationLimits)).toBe(0.5);
  });

  test("of a model is the mean of its endpoints', and 1 without any", () => {
    const full = { ...idle, reading: { running: 8, waiting: 10, kvUsageRatio: 0 } };
    expect(modelSaturation([idle, full], defaultSaturationLimits)).toBe(1);
    expect(modelSaturation([], defaultSaturationLimits)).toBe(1);
  });

  test("is never NaN or negative, and the hard cap always holds", () => {
    const number = fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: null });
    const reading = fc.option(
      fc.record({
        running: number,
        waiting: number,
        kvUsageRatio: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null }),
      }),
      { nil: null },
    );
    const load = fc.record({
      inflight: fc.nat(1_000),
      maxInflight: fc.integer({ min: 1, max: 500 }),
      maxConcurrent: fc.option(fc.integer({ min: 1, max: 500 }), { nil: null }),
      reading,
      sentSinceScrape: fc.nat(500),
      finishedSinceScrape: fc.nat(500),
    });
    fc.assert(
      fc.property(fc.array(load), (loads) => {
        const value = modelSaturation(loads, defaultSaturationLimits);
        expect(value).toBeGreaterThanOrEqual(0);
        for (const one of loads) {
          if (one.inflight >= one.maxInflight) expect(fullness(one, defaultSaturationLimits)).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});
