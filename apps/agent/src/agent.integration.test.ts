import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { launchOf, stopOf } from "./supervise/testing/reducer-bench.ts";
import { AgentProcess } from "./testing/agent-process.ts";
import { TestAdmin } from "./testing/test-admin.ts";
import { until } from "./testing/until.ts";

const address = "127.0.0.32";
/** Each test its own ports, below those of the supervisor's tests' end. */
let nextPort = 21_370;

async function cluster(gpus = "sim:2x80GiB") {
  const adminPort = nextPort;
  const ports = `${nextPort + 1}-${nextPort + 4}`;
  nextPort += 5;
  const admin = await TestAdmin.start("127.0.0.33", adminPort);
  const agent = await AgentProcess.create({ adminUrl: admin.url, address, ports, gpus });
  return {
    admin,
    agent,
    /** The shard of the last report, once it satisfies the test. */
    shard: async (wanted: (shard: NonNullable<typeof admin.last>["report"]["shards"][number]) => boolean) =>
      await until(`a shard as wanted; the agent said ${agent.output}`, () => admin.last?.report.shards.find(wanted)),
    [Symbol.asyncDispose]: async () => {
      await agent[Symbol.asyncDispose]();
      await admin[Symbol.asyncDispose]();
    },
  };
}

function simulated(gpuUuids: readonly string[], change: Partial<Parameters<typeof launchOf>[0]> = {}) {
  return launchOf({
    gpuUuids: [...gpuUuids],
    engine: { name: "sim", args: ["--sim-load-ms", "200", "--sim-itl-ms", "20"], env: {} },
    ...change,
  });
}

/** Opens a stream of `tokens` tokens at an engine and gathers its text. */
async function openStream(url: string, tokens: number) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer sk-replica-key", "content-type": "application/json" },
    body: JSON.stringify({
      model: "demo",
      stream: true,
      max_tokens: tokens,
      ignore_eos: true,
      messages: [{ role: "user", content: "hello" }],
    }),
  });
  const text = response.text();
  return { status: response.status, text };
}

describe("the agent program", { timeout: 300_000 }, () => {
  it("joins, reports its node, and runs, drains and shows an engine as ordered", async () => {
    await using it = await cluster();
    it.agent.start();
    const { report, clusterId } = await until("a report with GPUs", () =>
      it.admin.last?.report.gpus === null ? undefined : it.admin.last,
    );
    expect(it.admin.joins).toMatchObject([{ name: "alpha", simulated: true }]);
    expect(clusterId).toBe("cluster_1");
    expect(report).toMatchObject({ name: "alpha", address, simulated: true });
    const gpus = report.gpus ?? [];
    expect(gpus.map(({ totalMib, uuid }) => [totalMib, uuid.slice(0, 4)])).toEqual([
      [81_920, "SIM-"],
      [81_920, "SIM-"],
    ]);
    const identity = join(it.agent.dir, "identity.json");
    expect((await stat(identity)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(identity, "utf8"))).toMatchObject({ nodeId: "node_1" });
    expect(it.agent.output).not.toContain("node-credential-1");

    // A start that fails on its arguments, then the next generation, as the control plane would send it.
    const order = { memoryMibPerGpu: 30_000, generation: 2 };
    const uuids = [gpus[1]?.uuid ?? ""];
    it.admin.desire({ run: [simulated(uuids, { engine: { name: "sim", args: ["--no-such-flag"], env: {} } })] });
    const failed = await it.shard(({ phase }) => phase === "exited");
    expect(failed.exit).toMatchObject({ code: 2, category: "bad_configuration" });
    it.admin.desire({ run: [simulated(uuids, order)] });
    const { pid, url } = await it.shard(({ phase }) => phase === "ready");

    // Its memory shows on its GPU, as its own.
    const held = await until("a claim", () =>
      it.admin.last?.report.gpus?.find(({ processes }) => processes.length > 0),
    );
    expect(held.uuid).toBe(uuids[0]);
    expect(held).toMatchObject({ usedMib: 30_004, processes: [{ pid, usedMib: 30_000, shard: "demo-abcde/0" }] });

    // While it drains, idle reads count from the version that said so, and only once its work is done.
    const stream = await openStream(url ?? "", 60);
    it.admin.desire({ run: [simulated(uuids, { ...order, quietSinceVersion: 3 })] });
    await it.shard(
      ({ activity }) => activity?.sinceVersion === 3 && activity.running === 1 && activity.zeroReads === 0,
    );
    await stream.text;
    await it.shard(({ activity }) => activity?.sinceVersion === 3 && activity.zeroReads >= 2);

    // The log of this start and of the one before.
    const key = { replicaId: "demo-abcde", generation: 2, rank: 0, lines: 50 };
    const logs = [
      { requestId: "now", ...key, previous: false },
      { requestId: "before", ...key, previous: true },
    ];
    it.admin.desire({ run: [simulated(uuids, order)], logs });
    const answers = await until("both logs", () => it.admin.syncs.find((sync) => sync.report.logs.length === 2));
    const linesOf = (id: string) => answers.report.logs.find(({ requestId }) => requestId === id)?.lines.join("\n");
    expect(linesOf("now")).toContain("Application startup complete");
    expect(linesOf("before")).toContain("--no-such-flag");
    expect(linesOf("now")).not.toContain("sk-replica-key");
    await until("them to be sent once only", () => it.admin.last?.report.logs.length === 0);
  });

  it("is killed and started again ten times while a stream runs: one engine, ready in each first report, stream uncut", async () => {
    await using it = await cluster();
    it.agent.start();
    const gpus = await until("GPUs", () => it.admin.last?.report.gpus);
    const launch = simulated([gpus[0]?.uuid ?? ""]);
    it.admin.desire({ run: [launch] });
    const before = await it.shard(({ phase }) => phase === "ready");
    // A minute of tokens, over as many deaths of the agent as it takes ten starts.
    const stream = await openStream(before.url ?? "", 3_000);
    expect(stream.status).toBe(200);
    for (let death = 1; death <= 10; death += 1) {
      await it.agent.end("SIGKILL");
      const reports = it.admin.syncs.length;
      it.agent.start();
      const first = await until(`a report after death ${death}`, () => it.admin.syncs.at(reports));
      expect(first.report.shards).toMatchObject([{ phase: "ready", pid: before.pid, url: before.url }]);
      expect(first.appliedVersion).toBe(1);
      expect(it.agent.engines()).toEqual([before.pid]);
    }
    expect(it.admin.joins).toHaveLength(1);
    expect((await stream.text).match(/"delta":\{"content":"[^"]/g)).toHaveLength(3_000);
    expect(await stream.text).toMatch(/data: \[DONE\]\s*$/);

    it.admin.desire({ stop: [stopOf(launch, 5_000)] });
    const { exit } = await it.shard(({ phase }) => phase === "exited");
    expect(exit).toMatchObject({ asked: true, category: "stopped" });
    it.admin.desire({});
    await until("the shard to be forgotten", () => it.admin.last?.report.shards.length === 0);
    expect(it.agent.engines()).toEqual([]);
  });

  it("keeps everything when the admin is of another cluster, older, or gone, over its own restart too", async () => {
    await using it = await cluster();
    it.admin.refusal = { status: 409, message: "name alpha belongs to another machine" };
    it.agent.start();
    await until("the reason in the log", () => it.agent.output.includes("name alpha belongs to another machine"));
    it.admin.refusal = null;
    await until("a report", () => it.admin.last);
    const launch = simulated([]);
    it.admin.desire({ run: [launch], version: 7 });
    const { pid } = await it.shard(({ phase }) => phase === "ready");
    const held = async (words: string) =>
      await until(`a hold that says ${words}`, async () => {
        const { hold } = await it.agent.health();
        return typeof hold === "string" && hold.includes(words);
      });
    it.admin.desire({ stop: [stopOf(launch)], version: 3 });
    await held("version 3");
    it.admin.clusterId = "cluster_2";
    it.admin.desire({ stop: [stopOf(launch)], version: 9 });
    await held("cluster_2");
    expect(it.agent.engines()).toEqual([pid]);
    expect(it.admin.last?.appliedVersion).toBe(7);

    it.admin.refusal = { status: 503, message: "down" };
    await it.agent.end("SIGKILL");
    it.agent.start();
    expect(await it.agent.health()).toMatchObject({ appliedVersion: 7, shards: [{ phase: "ready", pid }] });
    expect(it.agent.engines()).toEqual([pid]);
  });

  it("leaves its engines running when it ends, and with --stop-engines-on-exit takes them along", async () => {
    await using it = await cluster();
    it.agent.start();
    await until("a report", () => it.admin.last);
    it.admin.desire({ run: [simulated([])] });
    const { pid } = await it.shard(({ phase }) => phase === "ready");
    expect(await it.agent.end("SIGTERM")).toBe(0);
    expect(it.agent.engines()).toEqual([pid]);
    it.agent.start(["--stop-engines-on-exit"]);
    await it.agent.diagnosticsUrl();
    expect(await it.agent.end("SIGTERM")).toBe(0);
    expect(it.agent.engines()).toEqual([]);
    it.agent.start();
    const { exit } = await it.shard(({ phase }) => phase === "exited");
    expect(exit).toMatchObject({ asked: true });
  });
});
