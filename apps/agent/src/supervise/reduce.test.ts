import { describe, expect, it } from "vitest";
import { observe } from "./observe.ts";
import { crashFacts, desiredAnswer, launchOf, ReducerBench, stopOf } from "./testing/reducer-bench.ts";

const id = "demo-abcde/0#1";
const launch = launchOf();
const run = [launch];

function started(): ReducerBench {
  const bench = new ReducerBench();
  bench.answer(desiredAnswer(1, { run }));
  bench.spawned(id);
  return bench;
}

function ready(): ReducerBench {
  const bench = started();
  bench.send({ kind: "ready", id });
  return bench;
}

function phase(bench: ReducerBench): string | undefined {
  return observe(bench.state, bench.nowMs).at(0)?.phase;
}

describe("a desired state", () => {
  it("starts what is new in run, once", () => {
    const bench = new ReducerBench();
    expect(bench.answer(desiredAnswer(1, { run })).commands).toEqual([{ kind: "spawn", id, launch, attempt: 1 }]);
    expect(bench.answer(desiredAnswer(2, { run })).commands).toEqual([]);
    expect(bench.state.desired.version).toBe(2);
  });

  it("ends only what stop names: a shard in neither list runs on", () => {
    const bench = ready();
    expect(bench.answer(desiredAnswer(2)).commands).toEqual([]);
    expect(phase(bench)).toBe("ready");
    expect(bench.answer(desiredAnswer(3, { stop: [stopOf(launch)] })).commands).toEqual([
      { kind: "signal", id, signal: "SIGTERM" },
    ]);
    expect(phase(bench)).toBe("stopping");
  });

  it("does not end another generation of the replica that it is told to stop", () => {
    const bench = ready();
    bench.answer(desiredAnswer(2, { stop: [stopOf({ ...launch, generation: 2 })] }));
    expect(bench.shard(id).process.kind).toBe("running");
  });

  it("answers an order to stop what is not here with an exit", () => {
    const bench = new ReducerBench();
    expect(bench.answer(desiredAnswer(1, { stop: [stopOf(launch)] })).urgent).toBe(true);
    expect(phase(bench)).toBe("exited");
  });

  it("of another cluster changes nothing and says so", () => {
    const bench = ready();
    const before = bench.state.shards;
    const other = desiredAnswer(9, { clusterId: "cluster_2", stop: [stopOf(launch)] });
    expect(bench.answer(other).commands).toEqual([]);
    expect(bench.state.shards).toBe(before);
    expect(bench.state.hold).toContain("cluster_2");
    expect(bench.state.desired.version).toBe(1);
  });

  it("of a lower version changes nothing, and the hold ends with the next good answer", () => {
    const bench = ready();
    bench.answer(desiredAnswer(7, { run }));
    expect(bench.answer(desiredAnswer(3, { stop: [stopOf(launch)] })).commands).toEqual([]);
    expect(bench.state.hold).toContain("version 3");
    bench.answer(desiredAnswer(8, { run }));
    expect(bench.state.hold).toBeNull();
  });

  it("that an agent finds on disk is carried on with: what runs is left alone, what does not is started", () => {
    const bench = ready();
    expect(bench.send({ kind: "resume" }).commands).toEqual([]);
    const fresh = new ReducerBench();
    fresh.state = { ...fresh.state, desired: bench.state.desired };
    expect(fresh.send({ kind: "resume" }).commands).toEqual([{ kind: "spawn", id, launch, attempt: 1 }]);
  });
});

describe("a stop", () => {
  it("sends SIGKILL after its bound, and calls what survives that stuck", () => {
    const bench = ready();
    bench.answer(desiredAnswer(2, { stop: [stopOf(launch, 3_000)] }));
    expect(bench.after(2_999).commands).toEqual([]);
    expect(bench.after(1).commands).toEqual([{ kind: "signal", id, signal: "SIGKILL" }]);
    expect(bench.after(4_999).urgent).toBe(false);
    expect(bench.after(1).urgent).toBe(true);
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ phase: "stuck", pid: 4242 }]);
  });

  it("is confirmed only when the whole group is gone", () => {
    const bench = ready();
    bench.answer(desiredAnswer(2, { stop: [stopOf(launch)] }));
    bench.send({ kind: "leader_ended", id, code: 0, signal: null });
    expect(phase(bench)).toBe("stopping");
    expect(bench.send({ kind: "gone", id, facts: crashFacts }).urgent).toBe(true);
    expect(observe(bench.state, bench.nowMs)).toMatchObject([
      { phase: "exited", exit: { asked: true, category: "stopped" } },
    ]);
  });

  it("given twice sends one SIGTERM, and a more impatient one brings SIGKILL forward", () => {
    const bench = ready();
    bench.answer(desiredAnswer(2, { stop: [stopOf(launch, 60_000)] }));
    expect(bench.answer(desiredAnswer(3, { stop: [stopOf(launch, 1_000)] })).commands).toEqual([]);
    expect(bench.after(1_000).commands).toEqual([{ kind: "signal", id, signal: "SIGKILL" }]);
  });

  it("that comes while the process is being started ends it as soon as it is there", () => {
    const bench = new ReducerBench();
    bench.answer(desiredAnswer(1, { run }));
    expect(bench.answer(desiredAnswer(2, { stop: [stopOf(launch)] })).commands).toEqual([]);
    expect(bench.spawned(id).commands).toEqual([{ kind: "signal", id, signal: "SIGTERM" }]);
  });
});

describe("an exit", () => {
  it("is not followed by a start of the same generation, only by one of the next", () => {
    const bench = ready();
    bench.send({ kind: "gone", id, facts: crashFacts });
    expect(bench.answer(desiredAnswer(2, { run }), [id]).commands).toEqual([]);
    expect(phase(bench)).toBe("exited");
    const next = launchOf({ generation: 2 });
    expect(bench.answer(desiredAnswer(3, { run: [next] }), []).commands).toMatchObject([
      { kind: "spawn", launch: next },
    ]);
  });

  it("is reported until an answer to a report that contained it names it no more", () => {
    const bench = ready();
    bench.send({ kind: "gone", id, facts: crashFacts });
    bench.answer(desiredAnswer(2), []);
    expect(bench.state.shards.has(id)).toBe(true);
    bench.answer(desiredAnswer(3, { stop: [stopOf(launch)] }), [id]);
    expect(bench.state.shards.has(id)).toBe(true);
    expect(bench.answer(desiredAnswer(4), [id]).commands).toEqual([{ kind: "forget", id }]);
    expect(bench.state.shards.has(id)).toBe(false);
  });

  it("by a taken port is retried on another one and is no crash, but not for ever", () => {
    const bench = started();
    const facts = { ...crashFacts, category: "port_in_use" as const };
    for (let attempt = 2; attempt <= 5; attempt += 1) {
      expect(bench.send({ kind: "gone", id, facts }).commands).toEqual([{ kind: "spawn", id, launch, attempt }]);
      expect(phase(bench)).toBe("starting");
      bench.spawned(id);
    }
    expect(bench.send({ kind: "gone", id, facts }).urgent).toBe(true);
    expect(phase(bench)).toBe("exited");
  });

  it("that leaves processes of its group behind ends them before it is reported", () => {
    const bench = ready();
    expect(bench.send({ kind: "leader_ended", id, code: 1, signal: null }).commands).toEqual([
      { kind: "signal", id, signal: "SIGTERM" },
    ]);
    expect(bench.after(5_000).commands).toEqual([{ kind: "signal", id, signal: "SIGKILL" }]);
    bench.send({ kind: "gone", id, facts: crashFacts });
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ exit: { asked: false, category: "crash", code: 1 } }]);
  });

  it("of all engines with the agent counts as asked", () => {
    const bench = ready();
    bench.send({ kind: "stop_all", killAfterMs: 1_000 });
    bench.send({ kind: "gone", id, facts: crashFacts });
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ exit: { asked: true } }]);
  });
});

describe("a load", () => {
  it("that writes nothing for the stall limit is ended as stalled, one that goes on writing is not", () => {
    const bench = started();
    for (let second = 0; second < 25; second += 5) {
      expect(bench.after(5_000).commands).toEqual([]);
      bench.send({ kind: "log_grew", id, progress: { ratio: second / 50, message: `step ${second}` } });
    }
    expect(bench.after(10_000).commands).toEqual([{ kind: "signal", id, signal: "SIGTERM" }]);
    bench.send({ kind: "gone", id, facts: crashFacts });
    expect(observe(bench.state, bench.nowMs)).toMatchObject([
      {
        exit: {
          asked: false,
          category: "load_stalled",
          cause: "It wrote nothing for 10s while loading (last seen: step 20)",
        },
      },
    ]);
  });

  it("longer than its limit is ended even while it writes", () => {
    const bench = started();
    for (let elapsedMs = 5_000; elapsedMs < 60_000; elapsedMs += 5_000) {
      expect(bench.after(5_000).commands).toEqual([]);
      bench.send({ kind: "log_grew", id, progress: null });
    }
    expect(bench.after(5_000).commands).toEqual([{ kind: "signal", id, signal: "SIGTERM" }]);
  });

  it("is over with ready, however quiet the log is then", () => {
    const bench = ready();
    expect(bench.after(10 * 60_000).commands).toEqual([]);
  });

  it("shows a ratio that never goes back", () => {
    const bench = started();
    bench.send({ kind: "log_grew", id, progress: { ratio: 0.6, message: "weights" } });
    bench.send({ kind: "log_grew", id, progress: { ratio: 0.1, message: "again, by another worker" } });
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ loadRatio: 0.6 }]);
  });

  it("of another model than the one ordered fails, and names both", () => {
    const bench = started();
    bench.send({ kind: "serves_other", id, found: ["stranger"] });
    bench.send({ kind: "gone", id, facts: crashFacts });
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ exit: { cause: "It serves stranger, expected demo" } }]);
  });
});

describe("idle reads", () => {
  const quiet = [launchOf({ quietSinceVersion: 5 })];
  const read = (bench: ReducerBench, running: number, sinceVersion = 5) =>
    bench.send({ kind: "activity", id, counts: { running, waiting: 0 }, sinceVersion });

  it("are news at the second in a row", () => {
    const bench = ready();
    bench.answer(desiredAnswer(5, { run: quiet }));
    expect(read(bench, 0).urgent).toBe(false);
    expect(read(bench, 0).urgent).toBe(true);
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ activity: { zeroReads: 2, sinceVersion: 5 } }]);
  });

  it("begin anew after work is seen, or counts cannot be read", () => {
    const bench = ready();
    bench.answer(desiredAnswer(5, { run: quiet }));
    read(bench, 0);
    read(bench, 1);
    read(bench, 0);
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ activity: { zeroReads: 1 } }]);
    bench.send({ kind: "activity", id, counts: null, sinceVersion: 5 });
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ activity: null }]);
    read(bench, 0);
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ activity: { zeroReads: 1 } }]);
  });

  it("begun before the drain's version was applied do not count for it", () => {
    const bench = ready();
    read(bench, 0, 0);
    bench.answer(desiredAnswer(5, { run: quiet }));
    read(bench, 0, 0);
    read(bench, 0, 5);
    expect(observe(bench.state, bench.nowMs)).toMatchObject([{ activity: { zeroReads: 1, sinceVersion: 5 } }]);
  });
});
