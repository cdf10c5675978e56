import type { ModelManifest } from "@llmgw/wire";
import { request } from "undici";
import { expect, test } from "vitest";
import { Cluster } from "../harness/cluster.ts";
import { ctl } from "../harness/ctl.ts";
import { enginePids } from "../harness/engines.ts";
import { waitFor } from "../harness/wait.ts";
import { type LlamaPrograms, llamaPrograms } from "./llama-programs.ts";

const programs = llamaPrograms(process.env);
/** Two threads would take the whole machine from everything else that a test runs. */
const args = ["-t", "1", "-np", "4"];

function manifest(change: Partial<ModelManifest> & { readonly pp?: number } = {}): ModelManifest {
  const { pp, ...rest } = change;
  return {
    id: "tiny",
    source: { path: programs.gguf },
    engine: { name: "llamacpp", args },
    replicas: 1,
    resources: { memoryPerGpu: "512MiB", context: 2_048, tp: 1, ...(pp === undefined ? {} : { pp }) },
    load: { max: "3m", stall: "2m" },
    ...rest,
  };
}

async function start({ binDir }: LlamaPrograms, nodes: number): Promise<Cluster> {
  const path = `${binDir}:${process.env["PATH"] ?? ""}`;
  return await Cluster.start({
    nodes: Array.from({ length: nodes }, () => "auto"),
    routers: 1,
    agentEnv: { PATH: path },
  });
}

interface Chat {
  readonly tokens: number;
  readonly stream: boolean;
}

function ask(cluster: Cluster, { tokens, stream }: Chat, signal?: AbortSignal) {
  return request(`${cluster.routers[0]?.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${cluster.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      ...{ model: "tiny", stream, max_tokens: tokens, ignore_eos: true, temperature: 0 },
      messages: [{ role: "user", content: "tell me the story" }],
    }),
    ...(signal === undefined ? {} : { signal }),
    headersTimeout: 60_000,
    bodyTimeout: 60_000,
  });
}

/** A stream that is complete: it ended by its own length, and with [DONE]. */
function expectWhole(text: string): void {
  expect(text).toContain('"finish_reason":"length"');
  expect(text.trimEnd().endsWith("data: [DONE]"), text.slice(-300)).toBe(true);
}

async function replicaOf(cluster: Cluster) {
  const [replica] = (await cluster.client.replicas.list.query({ model: "tiny" })).filter(
    ({ phase }) => phase === "serving" || phase === "moving",
  );
  return replica;
}

test("a real llama-server is served, streamed, left, read, crashed, adopted and drained", async () => {
  await using cluster = await start(programs, 2);
  await cluster.deploy(manifest());

  const answer = await ask(cluster, { tokens: 8, stream: false });
  expect(answer.statusCode).toBe(200);
  expect(await answer.body.json()).toMatchObject({ usage: { completion_tokens: 8 } });
  expectWhole(await (await ask(cluster, { tokens: 30, stream: true })).body.text());

  // A client that leaves frees its slot.
  const leaving = new AbortController();
  const left = await ask(cluster, { tokens: 1_500, stream: true }, leaving.signal);
  left.body.on("error", () => undefined);
  await new Promise((resolve) => left.body.once("data", resolve));
  leaving.abort();
  await waitFor("the engine to be idle again", async () => {
    const observed = (await replicaOf(cluster))?.shards[0]?.observed;
    return observed?.running === 0;
  });

  const log = await ctl(cluster, ["logs", (await replicaOf(cluster))?.id ?? ""]);
  expect(log.code, log.output).toBe(0);
  expect(log.output).toMatch(/listening on http/);

  // Killed hard, it comes back as another generation, and its end is told.
  const [engine] = enginePids(cluster.dir);
  process.kill(engine ?? 0, "SIGKILL");
  await waitFor("another engine to serve", async () => {
    const [pid] = enginePids(cluster.dir);
    return pid !== undefined && pid !== engine && (await replicaOf(cluster)) !== undefined;
  });
  await cluster.serving("tiny", 1);

  // Its agent may be killed under a stream: the same process serves on.
  const [before] = enginePids(cluster.dir);
  const uncut = await ask(cluster, { tokens: 600, stream: true });
  const uncutText = uncut.body.text();
  const serving = await replicaOf(cluster);
  const host = cluster.nodes.find(({ name }) => name === serving?.shards[0]?.nodeName);
  if (host === undefined) throw new Error(`no node of ${JSON.stringify(serving)}`);
  await host.agent.kill();
  host.agent.start();
  expectWhole(await uncutText);
  expect(enginePids(cluster.dir)).toEqual([before]);

  // A drain waits for its stream, which llama-server itself would have frozen.
  const drained = await ask(cluster, { tokens: 600, stream: true });
  const drainedText = drained.body.text();
  const drain = await ctl(cluster, ["drain", host.name, "--yes"]);
  expect(drain.code, drain.output).toBe(0);
  expectWhole(await drainedText);
  expect((await ask(cluster, { tokens: 3, stream: false })).statusCode).toBe(200);
  const after = enginePids(cluster.dir);
  expect(after).toHaveLength(1);
  expect(after).not.toContain(before);
});

test("a replica of a head and two RPC workers serves, and loses and regains a worker as one", async () => {
  await using cluster = await start(programs, 3);
  await cluster.deploy(manifest({ pp: 3 }));
  expect(enginePids(cluster.dir)).toHaveLength(3);
  expectWhole(await (await ask(cluster, { tokens: 30, stream: true })).body.text());

  const before = enginePids(cluster.dir);
  process.kill(before.at(-1) ?? 0, "SIGKILL");
  await waitFor(
    "all three to be started anew",
    () => {
      const now = enginePids(cluster.dir);
      return now.length === 3 && now.every((pid) => !before.includes(pid));
    },
    { timeoutMs: 120_000 },
  );
  await cluster.serving("tiny", 1);
  expectWhole(await (await ask(cluster, { tokens: 30, stream: true })).body.text());
});
