import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";
import { ManualClock } from "./testing/manual-clock.ts";

test.each([
  ["system", systemClock],
  ["manual", new ManualClock()],
])("a %s sleep rejects with the signal's reason when it aborts, and at once when it already has", async (_, clock) => {
  const stop = new AbortController();
  const reason = new Error("stop now");
  const sleep = clock.sleep(3_600_000, stop.signal);
  stop.abort(reason);
  await expect(sleep).rejects.toBe(reason);
  await expect(clock.sleep(0, stop.signal)).rejects.toBe(reason);
});

test("a sleep longer than a Node timer can hold does not fire at once", async () => {
  const stop = new AbortController();
  const sleep = systemClock.sleep(2 ** 33, stop.signal);
  const raced = await Promise.race([
    sleep.then(() => "slept"),
    new Promise((resolve) => setTimeout(() => resolve("waiting"), 20)),
  ]);
  expect(raced).toBe("waiting");
  stop.abort(new Error("done"));
  await expect(sleep).rejects.toThrow("done");
});

test("an advanced manual clock wakes sleepers in order, those that sleep again included", async () => {
  const clock = new ManualClock(1_000);
  const { signal } = new AbortController();
  const seen: string[] = [];
  const tick = async () => {
    for (let count = 0; count < 3; count += 1) {
      await clock.sleep(10, signal);
      seen.push(`tick at ${clock.nowMs()}`);
    }
  };
  const other = clock.sleep(15, signal).then(() => seen.push(`other at ${clock.nowMs()}`));
  const ticking = tick();
  await clock.advance(25);
  expect(seen).toEqual(["tick at 1010", "other at 1015", "tick at 1020"]);
  expect([clock.monotonicMs(), clock.sleepers]).toEqual([25, 1]);
  await clock.advance(5);
  await Promise.all([other, ticking]);
});
