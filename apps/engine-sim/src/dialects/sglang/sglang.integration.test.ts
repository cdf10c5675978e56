import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePort, readyEngine, spawnEngine } from "../../testing/spawned-engine.ts";
import { openChatStream, readAll } from "../../testing/stream-client.ts";

const FAST = ["--sim-ttft-ms", "2", "--sim-itl-ms", "10", "--sim-jitter", "0", "--enable-metrics"];

async function metric(url: string, name: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^sglang:${name}\\{.*\\} (\\S+)$`, "m").exec(page)?.[1]);
}

describe("a simulated SGLang", () => {
  it("starts with its own milestones, is healthy once it can generate, and serves whatever model is named", async () => {
    await using engine = await readyEngine([...FAST, "--served-model-name", "m"], "sglang");
    for (const line of ["Load weight begin", "KV Cache is allocated. #tokens: 262144", "max_total_num_tokens=262144"]) {
      expect(engine.output()).toContain(line);
    }
    expect((await fetch(`${engine.url}/health`)).status).toBe(200);
    const stream = await openChatStream(engine.url, { model: "another", max_tokens: 5 });
    expect(await readAll(stream)).toHaveLength(7);
    expect(await metric(engine.url, "num_running_reqs")).toBe(0);
    expect(await metric(engine.url, "generation_tokens_total")).toBe(6);
    expect(await (await fetch(`${engine.url}/v1/loads`)).json()).toMatchObject({ loads: [{ num_running_reqs: 0 }] });
    const refused = await fetch(`${engine.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(await refused.json()).toMatchObject({ object: "error", code: 400 });
  });

  it("has no metrics page unless it is told to", async () => {
    await using engine = await readyEngine(["--sim-ttft-ms", "2"], "sglang");
    expect((await fetch(`${engine.url}/metrics`)).status).toBe(404);
  });

  it("waits after SIGTERM for what is in flight, however long, says 503 on /health, and then exits 0", async () => {
    await using engine = await readyEngine([...FAST, "--sim-itl-ms", "20"], "sglang");
    const stream = await openChatStream(engine.url, { max_tokens: 60 });
    await stream.next();
    engine.child.kill("SIGTERM");
    await engine.printed(/Gracefully exiting... Remaining number of requests 1/);
    expect((await fetch(`${engine.url}/health`)).status).toBe(503);
    expect((await readAll(stream)).at(-1)?.choices[0]?.finish_reason).toBe("length");
    expect(await engine.exited).toEqual({ code: 0, signal: null });
  });

  it("reads its key from the file of --config, and flags win over the file", async () => {
    const config = join(mkdtempSync(join(tmpdir(), "sglang-")), "sglang.yaml");
    writeFileSync(config, 'api-key: "sk-file"\nserved-model-name: from-file\n');
    await using engine = await readyEngine([...FAST, "--config", config, "--served-model-name", "from-flag"], "sglang");
    expect((await fetch(`${engine.url}/v1/models`)).status).toBe(401);
    const answer = await fetch(`${engine.url}/v1/models`, { headers: { authorization: "Bearer sk-file" } });
    expect(await answer.json()).toMatchObject({ data: [{ id: "from-flag" }] });
    expect(engine.output()).not.toContain("sk-file");
  });

  it("refuses an unknown flag with argparse's words and exit code 2", async () => {
    await using engine = await spawnEngine(["--foo"], "sglang");
    expect(await engine.exited).toEqual({ code: 2, signal: null });
    expect(engine.output()).toContain("sglang serve: error: unrecognized arguments: --foo");
  });

  it("waits for the other machine of its replica, whose health proves nothing, and dies with it", async () => {
    const nodes = ["--nnodes", "2", "--pp-size", "2", "--dist-init-addr", `127.0.0.1:${await freePort()}`];
    await using follower = await spawnEngine([...nodes, "--node-rank", "1", "--sim-load-ms", "1"], "sglang");
    await using leader = await spawnEngine([...nodes, "--node-rank", "0", "--sim-load-ms", "1"], "sglang");
    await leader.printed(/fired up and ready/);
    expect((await fetch(`${follower.url}/health`)).status).toBe(200);
    follower.child.kill("SIGKILL");
    expect(await leader.exited).toEqual({ code: 1, signal: null });
    expect(leader.output()).toContain("Connection reset by peer");
  });
});
