import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KeyMeter, noKeyLimits } from "./key-meter.ts";

describe("the meter of a key", () => {
  test("without limits refuses nothing", () => {
    const meter = new KeyMeter();
    for (let count = 0; count < 1_000; count += 1) expect(meter.begin(0).kind).toBe("ok");
    expect(meter.open).toBe(1_000);
  });

  test("never lets more requests through in a minute than the limit, and says when the next one may come", () => {
    const times = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 50, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), times, (limit, gaps) => {
        const meter = new KeyMeter();
        meter.configure({ ...noKeyLimits, requestsPerMinute: limit }, 1);
        const passed: number[] = [];
        let nowMs = 0;
        for (const gap of gaps) {
          nowMs += gap;
          const answer = meter.begin(nowMs);
          if (answer.kind === "ok") {
            meter.end(0, nowMs);
            passed.push(Math.floor(nowMs / 1_000));
            continue;
          }
          expect(answer.retryAfterMs).toBeGreaterThan(0);
          expect(answer.retryAfterMs).toBeLessThanOrEqual(60_000);
        }
        for (const second of passed) {
          const inWindow = passed.filter((other) => other > second - 60 && other <= second);
          expect(inWindow.length).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  test("admits again when it said it would", () => {
    const meter = new KeyMeter();
    meter.configure({ ...noKeyLimits, requestsPerMinute: 2 }, 1);
    meter.begin(1_500);
    meter.begin(10_000);
    const answer = meter.begin(20_000);
    expect(answer).toEqual({ kind: "refused", by: "requestsPerMinute", limit: 2, retryAfterMs: 41_000 });
    expect(meter.begin(60_999).kind).toBe("refused");
    expect(meter.begin(61_000).kind).toBe("ok");
  });

  test("counts tokens when they are known, and requests at a time as they come and go", () => {
    const meter = new KeyMeter();
    meter.configure({ requestsPerMinute: null, tokensPerMinute: 100, concurrent: 2 }, 1);
    meter.begin(0);
    meter.begin(0);
    expect(meter.begin(0)).toMatchObject({ kind: "refused", by: "concurrent", limit: 2 });
    meter.end(150, 0);
    expect(meter.begin(0)).toMatchObject({ kind: "refused", by: "tokensPerMinute", retryAfterMs: 60_000 });
    expect(meter.begin(60_000).kind).toBe("ok");
  });

  test("takes its part of a limit that routers share, and never less than one", () => {
    const meter = new KeyMeter();
    meter.configure({ ...noKeyLimits, concurrent: 10 }, 3);
    for (let count = 0; count < 3; count += 1) expect(meter.begin(0).kind).toBe("ok");
    expect(meter.begin(0)).toMatchObject({ limit: 3 });
    meter.configure({ ...noKeyLimits, concurrent: 1 }, 3);
    expect(meter.begin(0)).toMatchObject({ limit: 1 });
  });
});
