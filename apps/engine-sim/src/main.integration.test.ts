import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePort, readyEngine, spawnEngine } from "./testing/spawned-engine.ts";
import { openChatStream, readAll } from "./testing/stream-client.ts";

const FAST = ["--sim-ttft-ms", "5", "--sim-itl-ms", "2", "--sim-jitter", "0"];

async function metric(url: string, series: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const line = page.split("\n").find((each) => each.startsWith(series));
  return Number(line?.split(" ").at(-1));
}

describe("engine process", () => {
  it("refuses connections while it loads, and then streams exactly the tokens that were asked for", async () => {
    await using engine = await spawnEngine([
      ...FAST,
      "--sim-load-ms",
      "300",
      "--sim-fail",
      "stall-load",
      "--sim-control-port",
      "0",
    ]);
    await engine.printed(/ 50% Completed \| 2\/4/);
    await expect(fetch(`${engine.url}/health`)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
    const [, control = ""] = await engine.printed(/control on (http:\S+)/);
    await fetch(`${control}/sim/config`, { method: "POST", body: '{"faults":[]}' });
    await engine.printed(/Application startup complete\./);
    expect((await fetch(`${engine.url}/health`)).status).toBe(200);

    const stream = await openChatStream(engine.url, { max_tokens: 25, stream_options: { include_usage: true } });
    const events = await readAll(stream);
    const tokens = events.filter((event) => (event.choices[0]?.delta.content ?? "") !== "");
    expect(tokens).toHaveLength(25);
    expect(events.at(-2)?.choices[0]?.finish_reason).toBe("length");
    expect(events.at(-1)?.usage?.completion_tokens).toBe(25);
  });

  it("gives the place of a client that left to the next one at once", async () => {
    await using engine = await readyEngine([...FAST, "--sim-itl-ms", "20", "--max-num-seqs", "1"]);
    const leaving = await openChatStream(engine.url, { max_tokens: 10_000 });
    await leaving.next();
    const waiting = await openChatStream(engine.url, { max_tokens: 10_000 });
    expect(await metric(engine.url, "vllm:num_requests_waiting{")).toBe(1);
    leaving.leave();
    await waiting.next();
    const aborts = 'vllm:request_success_total{engine="0",finished_reason="abort"';
    expect(await metric(engine.url, aborts)).toBe(1);
    expect(await metric(engine.url, "vllm:num_requests_running{")).toBe(1);
    expect(await metric(engine.url, "vllm:num_requests_waiting{")).toBe(0);
    waiting.leave();
  });

  it("ends in-flight streams with 'abort' on SIGTERM, exits 0 and gives its memory back", async () => {
    const claims = join(mkdtempSync(join(tmpdir(), "engine-sim-")), "claims");
    const claim = ["--sim-claims-dir", claims, "--sim-gpus", "SIM-1,SIM-2", "--sim-vram-mib", "70000"];
    await using engine = await readyEngine([...FAST, "--sim-itl-ms", "20", ...claim]);
    const path = join(claims, `${engine.child.pid ?? 0}.json`);
    expect(readdirSync(claims)).toHaveLength(1);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      pid: engine.child.pid,
      gpuUuids: ["SIM-1", "SIM-2"],
      mibPerGpu: 70_000,
    });
    const stream = await openChatStream(engine.url, { max_tokens: 10_000 });
    await stream.next();
    engine.child.kill("SIGTERM");
    const events = await readAll(stream);
    expect(events.at(-1)?.choices[0]?.finish_reason).toBe("abort");
    expect(await engine.exited).toEqual({ code: 0, signal: null });
    expect(existsSync(path)).toBe(false);
  });

  it("lets in-flight streams finish and refuses new ones with --shutdown-timeout", async () => {
    await using engine = await readyEngine([...FAST, "--sim-itl-ms", "20", "--shutdown-timeout", "30"]);
    const stream = await openChatStream(engine.url, { max_tokens: 60 });
    await stream.next();
    engine.child.kill("SIGTERM");
    await engine.printed(/mode=drain timeout=30s/);
    await expect(openChatStream(engine.url, { max_tokens: 5 })).rejects.toThrow("got 503");
    expect((await fetch(`${engine.url}/health`)).status).toBe(200);
    expect((await readAll(stream)).at(-1)?.choices[0]?.finish_reason).toBe("length");
    expect(await engine.exited).toEqual({ code: 0, signal: null });
  });

  it("dies by SIGTERM itself while it loads", async () => {
    await using engine = await spawnEngine(["--sim-load-ms", "600000"]);
    await engine.printed(/vLLM API server version/);
    engine.child.kill("SIGTERM");
    expect(await engine.exited).toEqual({ code: null, signal: "SIGTERM" });
  });

  it("breaks the connection and leaves a traceback when it crashes in the middle of a stream", async () => {
    await using engine = await readyEngine([...FAST, "--sim-fail", "crash-mid-stream:5"]);
    const stream = await openChatStream(engine.url, { max_tokens: 50 });
    await expect(readAll(stream)).rejects.toThrow();
    expect(await engine.exited).toEqual({ code: 1, signal: null });
    expect(engine.output()).toContain("EngineDeadError");
  });

  it("stays healthy but silent while it hangs, and goes on where it stood", async () => {
    await using engine = await readyEngine([...FAST, "--sim-control-port", "0"]);
    const [, control = ""] = await engine.printed(/control on (http:\S+)/);
    const setFaults = async (faults: readonly string[]) =>
      await fetch(`${control}/sim/config`, { method: "POST", body: JSON.stringify({ faults }) });
    await setFaults(["hang"]);
    const answer = openChatStream(engine.url, { max_tokens: 3 });
    await expect.poll(async () => await metric(engine.url, "vllm:num_requests_running{"), { timeout: 5000 }).toBe(1);
    expect((await fetch(`${engine.url}/health`)).status).toBe(200);
    expect(await metric(engine.url, "vllm:generation_tokens_total{")).toBe(0);
    await setFaults([]);
    expect(await readAll(await answer)).toHaveLength(5);
  });

  it.each(["half-events", "utf8-splits", "close-delimited"])(
    "sends the same stream whatever cuts it: %s",
    async (fault) => {
      await using engine = await readyEngine([...FAST, "--sim-fail", fault]);
      const events = await readAll(await openChatStream(engine.url, { max_tokens: 12 }));
      const text = events.map((event) => event.choices[0]?.delta.content ?? "").join("");
      expect(events).toHaveLength(14);
      expect(text.split("é€😀")).toHaveLength(fault === "utf8-splits" ? 13 : 1);
      expect(text).not.toContain("\ufffd");
    },
  );

  it("leaves a child in another session behind that outlives SIGTERM and holds its memory", async () => {
    const claims = join(mkdtempSync(join(tmpdir(), "engine-sim-")), "claims");
    const claim = ["--sim-claims-dir", claims, "--sim-gpus", "SIM-1", "--sim-vram-mib", "70000"];
    await using engine = await readyEngine([...FAST, ...claim, "--sim-fail", "double-fork"]);
    await expect.poll(() => readdirSync(claims).length, { timeout: 10_000 }).toBe(2);
    engine.child.kill("SIGTERM");
    await engine.exited;
    const [left = ""] = readdirSync(claims);
    const pid = Number.parseInt(left, 10);
    process.kill(pid, "SIGTERM");
    expect(() => process.kill(pid, 0)).not.toThrow();
    process.kill(pid, "SIGKILL");
  });

  it("answers every other endpoint that vLLM has", async () => {
    await using engine = await readyEngine([...FAST, "--enable-auto-tool-choice", "--tool-call-parser", "hermes"]);
    const ask = async (path: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${engine.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      return [response.status, await response.json()] as const;
    };
    const messages = [{ role: "user", content: "hello" }];
    expect(await ask("/v1/responses", { input: "hello", max_output_tokens: 4 })).toMatchObject([
      200,
      { object: "response", status: "incomplete", usage: { output_tokens: 4 } },
    ]);
    expect(await ask("/v1/messages", { messages, max_tokens: 4 })).toMatchObject([
      200,
      { type: "message", stop_reason: "max_tokens", usage: { output_tokens: 4 } },
    ]);
    const tools = [{ type: "function", function: { name: "weather" } }];
    expect(await ask("/v1/chat/completions", { messages, tools, max_tokens: 4 })).toMatchObject([
      200,
      { choices: [{ finish_reason: "tool_calls", message: { tool_calls: [{ function: { name: "weather" } }] } }] },
    ]);
    const ranked = await ask("/v1/rerank", { query: "q", documents: ["a", "b", "c"], top_n: 2 });
    expect(ranked).toMatchObject([200, { results: [{}, {}] }]);
    const form = new FormData();
    form.set("model", "test-model");
    form.set("file", new Blob([Buffer.alloc(64_000, 7)]), "speech.wav");
    const heard = await fetch(`${engine.url}/v1/audio/transcriptions`, { method: "POST", body: form });
    expect([heard.status, await heard.json()]).toMatchObject([200, { usage: { type: "duration", seconds: 2 } }]);
    const empty = await fetch(`${engine.url}/v1/audio/transcriptions`, { method: "POST", body: "x" });
    expect(empty.status).toBe(400);
  });

  it("fails as vLLM does when its port is taken", async () => {
    await using engine = await readyEngine(FAST);
    const port = new URL(engine.url).port;
    await using second = await spawnEngine(["--port", port]);
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.output()).toContain("OSError: [Errno 98] Address already in use");
  });

  it("waits for the other node of its replica, and dies with it", async () => {
    const nodes = ["--nnodes", "2", "--master-addr", "127.0.0.1", "--master-port", String(await freePort())];
    await using leader = await spawnEngine([...nodes, "--node-rank", "0", "--sim-load-ms", "1"]);
    await using follower = await spawnEngine([...nodes, "--node-rank", "1", "--headless", "--sim-load-ms", "1"]);
    await leader.printed(/Application startup complete\./);
    expect(follower.output()).not.toContain("Application startup complete.");
    leader.child.kill("SIGKILL");
    expect(await follower.exited).toEqual({ code: 1, signal: null });
    expect(follower.output()).toContain("Connection reset by peer");
  });
});
