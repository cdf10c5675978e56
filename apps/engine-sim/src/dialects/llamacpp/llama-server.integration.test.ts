import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { freePort, readyEngine, spawnEngine, spawnWords } from "../../testing/spawned-engine.ts";

const FAST = ["--sim-ttft-ms", "2", "--sim-itl-ms", "5", "--sim-jitter", "0", "--metrics"];
const LOADING = { error: { message: "Loading model", type: "unavailable_error", code: 503 } };

/** Sends a request by hand and gathers every byte until the connection ends. */
function rawPost(url: string, body: object, headers: readonly string[] = []) {
  const { hostname, port } = new URL(url);
  const text = JSON.stringify(body);
  const socket = connect(Number(port), hostname);
  const head = ["POST /v1/chat/completions HTTP/1.1", "host: engine", "content-type: application/json"];
  socket.write([...head, ...headers, `content-length: ${text.length}`, "", text].join("\r\n"));
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  const ended = once(socket, "close").then(() => received);
  return { socket, ended, received: () => received };
}

const stream = (tokens: number) => ({
  messages: [{ role: "user", content: "tell me the story" }],
  stream: true,
  max_tokens: tokens,
});

async function metric(url: string, name: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^llamacpp:${name} (\\S+)$`, "m").exec(page)?.[1]);
}

async function post(url: string, body: object | string) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: text });
  return { status: response.status, body: await response.json() };
}

describe("a simulated llama-server", () => {
  it("opens its port before its model is loaded and answers 503 on every path, then serves", async () => {
    await using engine = await spawnEngine(
      [...FAST, "--sim-fail", "stall-load", "--sim-control-port", "0"],
      "llamacpp",
    );
    const [, control = ""] = await engine.printed(/control on (http:\S+)/);
    for (const path of ["/health", "/metrics", "/v1/models"]) {
      const answer = await fetch(`${engine.url}${path}`);
      expect([answer.status, await answer.json()]).toEqual([503, LOADING]);
    }
    await fetch(`${control}/sim/config`, { method: "POST", body: '{"faults":[]}' });
    await engine.printed(/listening on http/);
    expect(await (await fetch(`${engine.url}/health`)).json()).toEqual({ status: "ok" });
    const { ended } = rawPost(engine.url, stream(5));
    const text = await ended;
    expect(text.match(/"content":" /g)).toHaveLength(5);
    expect(text).toContain('"delta":{"role":"assistant","content":null}');
    expect(text).toContain('"finish_reason":"length"');
    expect(text).toMatch(/data: \[DONE\]\n\n\r\n0\r\n\r\n$/);
  });

  it("ends a stream's connection after the last chunk, though its headers offer to keep it", async () => {
    await using engine = await readyEngine(FAST, "llamacpp");
    const { ended } = rawPost(engine.url, stream(2), ["connection: keep-alive"]);
    const text = await ended;
    expect(text.toLowerCase()).toContain("connection: keep-alive");
    expect(text).toContain("[DONE]");
  });

  it("does not drain on SIGTERM: what is in flight goes silent, and it lives until its last client has gone", async () => {
    await using engine = await readyEngine([...FAST, "--sim-itl-ms", "20", "--sse-ping-interval", "1"], "llamacpp");
    const { ended, received } = rawPost(engine.url, stream(2_000));
    await expect.poll(() => received().includes('"content":" '), { timeout: 10_000 }).toBe(true);
    engine.child.kill("SIGTERM");
    await engine.printed(/cleaning up before exit/);
    await expect(fetch(`${engine.url}/health`)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
    const text = await ended;
    expect(text).toMatch(/:\n\n/);
    expect(text).not.toContain("[DONE]");
    expect(text).not.toMatch(/0\r\n\r\n$/);
    expect(await engine.exited).toEqual({ code: 0, signal: null });
  });

  it("leaves at once when idle, and on a second SIGTERM whatever it does", async () => {
    await using idle = await readyEngine(FAST, "llamacpp");
    idle.child.kill("SIGTERM");
    expect(await idle.exited).toEqual({ code: 0, signal: null });
    await using busy = await readyEngine([...FAST, "--sim-itl-ms", "20"], "llamacpp");
    const { received } = rawPost(busy.url, stream(2_000));
    await expect.poll(() => received().includes('"content":" '), { timeout: 10_000 }).toBe(true);
    busy.child.kill("SIGTERM");
    await busy.printed(/cleaning up/);
    busy.child.kill("SIGTERM");
    expect(await busy.exited).toEqual({ code: 1, signal: null });
  });

  it("queues without a byte, and counts in slots what it works on", async () => {
    await using engine = await readyEngine([...FAST, "--sim-itl-ms", "20", "-np", "1"], "llamacpp");
    const first = rawPost(engine.url, stream(2_000));
    await expect.poll(() => first.received().includes("200 OK"), { timeout: 10_000 }).toBe(true);
    const second = rawPost(engine.url, stream(2));
    await expect.poll(() => metric(engine.url, "requests_deferred"), { timeout: 10_000 }).toBe(1);
    expect(second.received()).toBe("");
    expect(await metric(engine.url, "requests_processing")).toBe(1);
    expect((await fetch(`${engine.url}/health`)).status).toBe(200);
    expect((await fetch(`${engine.url}/slots?fail_on_no_slot=1`)).status).toBe(503);
    const slots = await (await fetch(`${engine.url}/slots`)).json();
    expect(slots).toMatchObject([{ id: 0, is_processing: true }]);
    // Tokens are counted when a request has ended; steps as they are made.
    expect(await metric(engine.url, "tokens_predicted_total")).toBe(0);
    expect(await metric(engine.url, "n_decode_total")).toBeGreaterThan(0);
    first.socket.destroy();
    expect(await second.ended).toContain("[DONE]");
  });

  it("keeps a generation whose conversation has a name when its client leaves", async () => {
    await using engine = await readyEngine([...FAST, "--sim-itl-ms", "20"], "llamacpp");
    const { socket, received } = rawPost(engine.url, stream(30), ["x-conversation-id: c1"]);
    await expect.poll(() => received().includes('"content":" '), { timeout: 10_000 }).toBe(true);
    socket.destroy();
    await expect.poll(() => metric(engine.url, "tokens_predicted_total"), { timeout: 10_000 }).toBe(30);
  });

  it("ends everybody with an error and no [DONE] when the cache that all slots share is full", async () => {
    await using engine = await readyEngine([...FAST, "-c", "60"], "llamacpp");
    const streams = [rawPost(engine.url, stream(50)), rawPost(engine.url, stream(50))];
    for (const text of await Promise.all(streams.map(({ ended }) => ended))) {
      expect(text).toContain(
        'data: {"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}',
      );
      expect(text).not.toContain("[DONE]");
      expect(text).toMatch(/0\r\n\r\n$/);
    }
  });

  it("words its refusals as the real one does", async () => {
    await using engine = await readyEngine([...FAST, "-c", "128", "-np", "1", "-a", "tiny"], "llamacpp");
    expect(await post(engine.url, '{"model":"tiny", bad')).toMatchObject({
      status: 500,
      body: { error: { code: 500, type: "server_error" } },
    });
    expect(await post(engine.url, { model: "tiny" })).toEqual({
      status: 400,
      body: { error: { code: 400, message: "'messages' is required", type: "invalid_request_error" } },
    });
    const long = { messages: [{ role: "user", content: "word ".repeat(300) }] };
    expect(await post(engine.url, long)).toMatchObject({
      status: 400,
      body: { error: { type: "exceed_context_size_error", n_ctx: 128 } },
    });
    const other = await post(engine.url, { model: "no-such-model", messages: [], max_tokens: 0 });
    expect(other).toMatchObject({ status: 200, body: { model: "tiny", usage: { completion_tokens: 1 } } });
    expect((await fetch(`${engine.url}/v1/chat/completions`)).status).toBe(404);
    expect((await fetch(`${engine.url}/v1/embeddings`, { method: "POST", body: "{}" })).status).toBe(501);
  });

  it("refuses arguments with exit code 1 and llama.cpp's words", async () => {
    await using unknown = await spawnEngine(["--no-such-flag"], "llamacpp");
    expect(await unknown.exited).toEqual({ code: 1, signal: null });
    expect(unknown.output()).toBe("error: invalid argument: --no-such-flag\n");
    await using bad = await spawnEngine(["-c", "abc"], "llamacpp");
    await bad.exited;
    expect(bad.output()).toContain('error while handling argument "-c": stoi');
  });
});

describe("a simulated llama-server with an RPC worker", () => {
  async function pair() {
    const port = await freePort();
    const worker = spawnWords(
      ["--dialect", "llamacpp", "ggml-rpc-server", "-H", "127.0.0.1", "-p", String(port)],
      port,
    );
    await worker.printed(/Starting RPC server/);
    const head = await readyEngine([...FAST, "--sim-itl-ms", "20", "--rpc", `127.0.0.1:${port}`], "llamacpp");
    return { worker, head };
  }

  it("aborts with the cause in its log when the worker is killed", async () => {
    const { worker, head } = await pair();
    await using _worker = worker;
    await using _head = head;
    const { ended, received } = rawPost(head.url, stream(2_000));
    await expect.poll(() => received().includes('"content":" '), { timeout: 10_000 }).toBe(true);
    worker.child.kill("SIGKILL");
    expect(await ended).not.toContain("[DONE]");
    expect((await head.exited).signal).toBe("SIGABRT");
    expect(head.output()).toContain("Remote RPC server crashed or returned malformed response");
  });

  it("looks healthy and computes nothing while the worker is frozen, and goes on afterwards", async () => {
    const { worker, head } = await pair();
    await using _worker = worker;
    await using _head = head;
    const { ended } = rawPost(head.url, stream(40));
    await expect.poll(() => metric(head.url, "n_decode_total"), { timeout: 10_000 }).toBeGreaterThan(3);
    worker.child.kill("SIGSTOP");
    let before = -1;
    await expect
      .poll(
        async () => {
          const now = await metric(head.url, "n_decode_total");
          const isStill = now === before;
          before = now;
          return isStill;
        },
        { timeout: 10_000, interval: 300 },
      )
      .toBe(true);
    expect((await fetch(`${head.url}/health`)).status).toBe(200);
    expect(await metric(head.url, "requests_processing")).toBe(1);
    worker.child.kill("SIGCONT");
    expect(await ended).toContain("[DONE]");
  });

  it("does not start without its worker, and a worker whose port is taken says so and exits 0", async () => {
    const port = await freePort();
    await using head = await spawnEngine(["--rpc", `127.0.0.1:${port}`], "llamacpp");
    expect((await head.exited).signal).toBe("SIGABRT");
    expect(head.output()).toContain(`Failed to connect to 127.0.0.1:${port}`);
    const words = ["--dialect", "llamacpp", "ggml-rpc-server", "-H", "127.0.0.1", "-p", String(port)];
    await using first = spawnWords(words, port);
    await first.printed(/Starting RPC server/);
    await using second = spawnWords(words, port);
    expect(await second.exited).toEqual({ code: 0, signal: null });
    expect(second.output()).toContain("Failed to create server socket");
  });
});
