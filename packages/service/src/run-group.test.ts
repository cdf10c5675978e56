import { expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { createLogger } from "./logger.ts";
import { type RunGroupPart, runGroup } from "./run-group.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { spawnScript } from "./testing/spawn-script.ts";

const log = createLogger({ name: "test", level: "silent" });

function group(parts: readonly RunGroupPart[], clock = new ManualClock()) {
  return runGroup({ parts, log, clock, shutdownDeadlineMs: 1_000, signals: false });
}

/** A part that waits for its abort, then says so. */
function waiting(name: string, events: string[], options: { stopsLast?: boolean } = {}): RunGroupPart {
  return {
    name,
    ...options,
    run: (signal) => {
      events.push(`${name} started`);
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          events.push(`${name} stopped`);
          resolve();
        }),
      );
    },
  };
}

test("parts start in order, and the first to settle stops the rest", async () => {
  const events: string[] = [];
  const job = { name: "job", run: async () => void events.push("job done") };
  expect(await group([waiting("a", events), waiting("b", events), job])).toBe(0);
  expect(events).toEqual(["a started", "b started", "job done", "a stopped", "b stopped"]);
});

test("a part that stops last outlives the others", async () => {
  const events: string[] = [];
  const job = { name: "job", run: async () => undefined };
  expect(await group([waiting("diagnostics", events, { stopsLast: true }), waiting("router", events), job])).toBe(0);
  expect(events.slice(2)).toEqual(["router stopped", "diagnostics stopped"]);
});

test("a part that fails stops the rest and makes the exit code 1, however it throws", async () => {
  const events: string[] = [];
  const fails = { name: "fails", run: () => Promise.reject(new Error("broken")) };
  const throws = {
    name: "throws",
    run: () => {
      throw new Error("broken");
    },
  };
  expect(await group([waiting("a", events), fails])).toBe(1);
  expect(await group([waiting("b", events), throws])).toBe(1);
  expect(events).toEqual(["a started", "a stopped", "b started", "b stopped"]);
});

test("rejecting with the abort's reason is a clean end; failing while stopping is not", async () => {
  const clock = new ManualClock();
  const job = { name: "job", run: async () => undefined };
  const sleeper = { name: "sleeper", run: (signal: AbortSignal) => clock.sleep(60_000, signal) };
  expect(await group([sleeper, job], clock)).toBe(0);
  const breaksOnStop = {
    name: "breaks",
    run: (signal: AbortSignal) => clock.sleep(60_000, signal).catch(() => Promise.reject(new Error("disk full"))),
  };
  expect(await group([breaksOnStop, job], clock)).toBe(1);
});

test("a part that does not stop costs the exit code, but only until the deadline", async () => {
  const clock = new ManualClock();
  const stuck = { name: "stuck", run: () => new Promise<void>(() => undefined) };
  const job = { name: "job", run: async () => undefined };
  const code = group([stuck, job], clock);
  await clock.advance(999);
  expect(clock.sleepers).toBe(1);
  await clock.advance(1);
  expect(await code).toBe(1);
});

test("a part's configuration error reaches the caller once all parts have ended", async () => {
  const events: string[] = [];
  const busy = { name: "listener", run: () => Promise.reject(new ConfigError(["port 1 is in use"])) };
  await expect(group([waiting("a", events), busy])).rejects.toThrow("port 1 is in use");
  expect(events).toEqual(["a started", "a stopped"]);
});

const program = (stopping: string) => `
  import { createLogger, runGroup, runMain, systemClock } from "@llmgw/service";
  const log = createLogger({ name: "program", level: "info" });
  const part = {
    name: "part",
    run: async (signal) => {
      console.log("started");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      console.log("draining");
      ${stopping}
    },
  };
  const keepAlive = setInterval(() => {}, 1000);
  await runMain(() => runGroup({ parts: [part], log, shutdownDeadlineMs: 60_000 }));
`;

test.each(["SIGTERM", "SIGINT"] as const)(
  "a real %s, even sent twice in a row, ends a program with code 0",
  async (name) => {
    using script = spawnScript(program("await systemClock.sleep(50, new AbortController().signal);"));
    await script.waitFor("started");
    script.child.kill(name);
    await script.waitFor("draining");
    script.child.kill(name);
    expect(await script.ended).toEqual({ code: 0, signal: null });
    expect(script.output().stdout).toContain(`received ${name}`);
  },
);

test("a second signal after a second ends the program at once", async () => {
  using script = spawnScript(
    program(`await systemClock.sleep(1_100, new AbortController().signal); console.log("still draining");
      await new Promise(() => {});`),
  );
  await script.waitFor("started");
  script.child.kill("SIGTERM");
  await script.waitFor("still draining");
  script.child.kill("SIGTERM");
  expect(await script.ended).toEqual({ code: 143, signal: null });
});
