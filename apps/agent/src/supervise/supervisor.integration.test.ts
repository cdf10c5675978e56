import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SupervisorBench } from "../testing/supervisor-bench.ts";
import { until } from "../testing/until.ts";
import { desiredAnswer, launchOf, stopOf } from "./testing/reducer-bench.ts";

function tiny(env: Record<string, string> = {}, change: Partial<Parameters<typeof launchOf>[0]> = {}) {
  return launchOf({ engine: { name: "sim", args: [], env }, ...change });
}

function isThere(pid: number | null): boolean {
  if (pid === null) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The pid of the tiny engine's child that ignores SIGTERM, once it does. */
async function stubbornChild(bench: SupervisorBench): Promise<number> {
  const pid = await until("the child to be up", () => /^stubborn (\d+)$/m.exec(bench.log("demo-abcde"))?.[1]);
  return Number(pid);
}

describe("an engine", { timeout: 60_000 }, () => {
  it("is started, becomes ready, and reports its address and its work", async () => {
    await using bench = await SupervisorBench.create();
    const supervisor = await bench.start();
    await supervisor.apply(desiredAnswer(1, { run: [tiny({ TINY_WORK: "3" })] }), []);
    const shard = await bench.observed(({ activity }) => activity !== null);
    expect(shard).toMatchObject({ phase: "ready", activity: { running: 3, zeroReads: 0 } });
    expect(shard.url).toBe(`http://127.0.0.31:${bench.ports.first}`);
  });

  it("is given a clean environment: no secret of the agent's, nothing of its own GPU choice", async () => {
    await using bench = await SupervisorBench.create();
    const supervisor = await bench.start();
    await supervisor.apply(desiredAnswer(1, { run: [tiny({ MY_SETTING: "x" })] }), []);
    await bench.observed(({ phase }) => phase === "ready");
    const line = bench
      .log("demo-abcde")
      .split("\n")
      .find((text) => text.startsWith("environment "));
    const environment: unknown = JSON.parse(line?.slice("environment ".length) ?? "null");
    expect(environment).toMatchObject({
      MY_SETTING: "x",
      HF_TOKEN: "file-secret-value",
      VLLM_API_KEY: "sk-replica-key",
    });
    expect(environment).not.toHaveProperty("LLMGW_JOIN_TOKEN");
    expect(environment).not.toHaveProperty("CUDA_VISIBLE_DEVICES");
  });

  it("that crashes is reported with its cause and its last lines, and without secrets", async () => {
    await using bench = await SupervisorBench.create();
    const supervisor = await bench.start();
    const run = [tiny({ TINY_CRASH: "last words with sk-replica-key" })];
    await supervisor.apply(desiredAnswer(1, { run }), []);
    const { exit } = await bench.observed(({ phase }) => phase === "exited");
    expect(exit).toMatchObject({ code: 1, asked: false, category: "crash" });
    expect(exit?.tail.at(-1)).toBe("last words with ***");
    expect(JSON.stringify(exit)).not.toMatch(/sk-replica-key|file-secret-value|jt-secret/);
  });

  it("whose port is taken is started on another one and counts no crash", async () => {
    await using bench = await SupervisorBench.create();
    // The picker sees the port free; another program takes it before the engine does.
    const thief = createServer();
    const ports = { ...bench.context.ports };
    let picks = 0;
    const pick: typeof ports.pick = async (host, taken) => {
      const port = await ports.pick(host, taken);
      picks += 1;
      if (picks === 1) await new Promise<void>((resolve) => thief.listen({ host, port: port ?? 0 }, resolve));
      return port;
    };
    Object.assign(bench.context.ports, { pick });
    const supervisor = await bench.start();
    await supervisor.apply(desiredAnswer(1, { run: [tiny()] }), []);
    const shard = await bench.observed(({ phase }) => phase !== "starting");
    thief.close();
    expect(shard).toMatchObject({ phase: "ready", url: `http://127.0.0.31:${bench.ports.first + 1}` });
  });
});

describe("a stop", { timeout: 60_000 }, () => {
  it("is confirmed only when the whole group is gone, a detached child that ignores SIGTERM included", async () => {
    await using bench = await SupervisorBench.create();
    const supervisor = await bench.start();
    const launch = tiny({ TINY_CHILD: "spawn" });
    await supervisor.apply(desiredAnswer(1, { run: [launch] }), []);
    await bench.observed(({ phase }) => phase === "ready");
    const child = await stubbornChild(bench);
    await supervisor.apply(desiredAnswer(2, { stop: [stopOf(launch, 1_500)] }), []);
    await until("only the child to be left", () => bench.livePids().join() === String(child));
    expect(supervisor.observations()).toMatchObject([{ phase: "stopping" }]);
    const { exit } = await bench.observed(({ phase }) => phase === "exited");
    expect(bench.livePids()).toEqual([]);
    expect(exit).toMatchObject({ asked: true, category: "stopped" });
  });

  it("ends an engine that ignores SIGTERM after its bound", async () => {
    await using bench = await SupervisorBench.create();
    const supervisor = await bench.start();
    const launch = tiny({ TINY_IGNORE_SIGTERM: "1" });
    await supervisor.apply(desiredAnswer(1, { run: [launch] }), []);
    await bench.observed(({ phase }) => phase === "ready");
    await supervisor.apply(desiredAnswer(2, { stop: [stopOf(launch, 200)] }), []);
    const { exit } = await bench.observed(({ phase }) => phase === "exited");
    expect(exit).toMatchObject({ signal: "SIGKILL", asked: true });
  });
});

describe("an agent that starts", { timeout: 60_000 }, () => {
  it("adopts an engine that runs: same process, ready at once, and notices its end", async () => {
    await using bench = await SupervisorBench.create();
    const first = await bench.start();
    await first.apply(desiredAnswer(1, { run: [tiny()] }), []);
    const { pid, url } = await bench.observed(({ phase }) => phase === "ready");
    await bench.end();
    const second = await bench.start();
    expect(second.observations()).toMatchObject([{ phase: "ready", pid, url }]);
    expect(second.state.desired.version).toBe(1);
    process.kill(pid ?? 0, "SIGKILL");
    const { exit } = await bench.observed(({ phase }) => phase === "exited");
    expect(exit).toMatchObject({ code: null, signal: null, asked: false });
  });

  it("reports an engine that serves as ready from the first, though its record does not say so yet", async () => {
    await using bench = await SupervisorBench.create();
    const first = await bench.start();
    await first.apply(desiredAnswer(1, { run: [tiny()] }), []);
    await bench.observed(({ phase }) => phase === "ready");
    await bench.end();
    const [record] = (await bench.context.records.load()).records;
    if (record === undefined) throw new Error("no record of the engine");
    await bench.context.records.save({ ...record, ready: false });
    const second = await bench.start();
    expect(second.observations()).toMatchObject([{ phase: "ready" }]);
  });

  it("takes a pid that is another process's by now for a dead engine and leaves that process alone", async () => {
    await using bench = await SupervisorBench.create();
    const first = await bench.start();
    const launch = tiny();
    await first.apply(desiredAnswer(1, { run: [launch] }), []);
    const { pid } = await bench.observed(({ phase }) => phase === "ready");
    await bench.end();
    process.kill(pid ?? 0, "SIGKILL");
    await until("the engine to be gone", () => bench.livePids().length === 0);
    const stranger = spawn("sleep", ["600"], { detached: true });
    const strangerPid = stranger.pid ?? 0;
    const [record] = (await bench.context.records.load()).records;
    if (record?.process === null || record === undefined) throw new Error("no record of the engine");
    await bench.context.records.save({ ...record, process: { ...record.process, pid: strangerPid } });
    const second = await bench.start();
    expect(second.observations()).toMatchObject([{ phase: "exited", exit: { asked: false } }]);
    await second.apply(desiredAnswer(2, { stop: [stopOf(launch, 0)] }), []);
    second.dispatch({ kind: "stop_all", killAfterMs: 0 });
    expect(isThere(strangerPid)).toBe(true);
    expect(stranger.signalCode).toBeNull();
    stranger.kill("SIGKILL");
  });

  it("ends what a dead engine left behind before it calls it exited", async () => {
    await using bench = await SupervisorBench.create();
    const first = await bench.start();
    await first.apply(desiredAnswer(1, { run: [tiny({ TINY_CHILD: "spawn" })] }), []);
    const { pid } = await bench.observed(({ phase }) => phase === "ready");
    await stubbornChild(bench);
    await bench.end();
    process.kill(pid ?? 0, "SIGKILL");
    await bench.start();
    await bench.observed(({ phase }) => phase === "exited");
    expect(bench.livePids()).toEqual([]);
  });

  it("finds an engine whose record is lost by its token", async () => {
    await using bench = await SupervisorBench.create();
    const first = await bench.start();
    await first.apply(desiredAnswer(1, { run: [tiny()] }), []);
    const { pid, url } = await bench.observed(({ phase }) => phase === "ready");
    await bench.end();
    const [record] = (await bench.context.records.load()).records;
    if (record === undefined) throw new Error("no record of the engine");
    await bench.context.records.remove(record.key);
    await bench.start();
    expect(await bench.observed(({ phase }) => phase === "ready")).toMatchObject({ pid, url });
    expect(bench.livePids()).toEqual([pid]);
  });

  it("shows an engine that nothing on disk speaks of as what it is, and stops it only when told to", async () => {
    await using bench = await SupervisorBench.create();
    const launch = tiny();
    const first = await bench.start();
    await first.apply(desiredAnswer(1, { run: [launch] }), []);
    const { pid } = await bench.observed(({ phase }) => phase === "ready");
    await bench.end();
    await rm(join(bench.dir, "desired.json"));
    for (const { key } of (await bench.context.records.load()).records) await bench.context.records.remove(key);
    const second = await bench.start();
    expect(second.observations()).toMatchObject([{ replicaId: launch.replicaId, generation: 1, pid }]);
    await second.apply(desiredAnswer(5), []);
    expect(bench.livePids()).toEqual([pid]);
    await second.apply(desiredAnswer(6, { stop: [stopOf(launch, 200)] }), []);
    await bench.observed(({ phase }) => phase === "exited");
    expect(bench.livePids()).toEqual([]);
  });

  it("takes engines of before a reboot for dead, whatever their pids are now", async () => {
    await using bench = await SupervisorBench.create();
    const first = await bench.start();
    await first.apply(desiredAnswer(1, { run: [tiny()] }), []);
    const { pid } = await bench.observed(({ phase }) => phase === "ready");
    await bench.end();
    const [record] = (await bench.context.records.load()).records;
    if (record === undefined) throw new Error("no record of the engine");
    await bench.context.records.save({ ...record, bootId: "boot-0" });
    const second = await bench.start();
    expect(second.observations()).toMatchObject([{ phase: "exited", exit: { category: "killed" } }]);
    expect(isThere(pid)).toBe(true);
  });
});

describe("an agent that ends", { timeout: 60_000 }, () => {
  it("with its engines reports them afterwards as exited because asked, and does not start them again", async () => {
    await using bench = await SupervisorBench.create();
    const launch = tiny({ TINY_CHILD: "spawn", TINY_IGNORE_SIGTERM: "1" });
    const first = await bench.start({ stopEngines: true, killAfterMs: 200 });
    await first.apply(desiredAnswer(1, { run: [launch] }), []);
    await bench.observed(({ phase }) => phase === "ready");
    await bench.end();
    expect(bench.livePids()).toEqual([]);
    const second = await bench.start();
    expect(second.observations()).toMatchObject([{ phase: "exited", exit: { asked: true } }]);
  });
});
