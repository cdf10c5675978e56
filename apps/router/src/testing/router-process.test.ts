import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chunk, done, event, lastChunk, streamHead } from "./fake-engine.ts";
import { answering, documentOf, okAnswer, plainBody, streamBody, useKit } from "./kit.ts";
import { RawClient } from "./raw-client.ts";
import { RouterProcess } from "./router-process.ts";
import { waitFor } from "./test-router.ts";

const { engine } = useKit();

describe("the router as a process", { timeout: 60_000 }, () => {
  let folder = "";
  const processes: RouterProcess[] = [];
  const clients: RawClient[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "llmgw-router-"));
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await Promise.all(processes.splice(0).map((running) => running.kill()));
    await rm(folder, { recursive: true });
  });

  const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const started = new RouterProcess(args, env);
    processes.push(started);
    return started;
  };
  const open = async (port: number) => {
    const opened = await RawClient.open(port);
    clients.push(opened);
    return opened;
  };
  const health = async (running: RouterProcess) => {
    const response = await fetch(`http://127.0.0.1:${await running.diagnosticsPort()}/health`);
    return { status: response.status, text: await response.text() };
  };

  test("on SIGTERM lets a stream go on to its end, takes nothing new, and exits with 0", async () => {
    let finish: () => void = () => undefined;
    const fake = await engine(({ socket, body }) => {
      if (!body.includes('"stream":true')) {
        socket.write(okAnswer);
        return;
      }
      socket.write(`${streamHead}${chunk(event("a"))}`);
      finish = () => void socket.write(`${chunk(event("b", "stop") + done)}${lastChunk}`);
    });
    const path = join(folder, "router.yaml");
    await writeFile(path, JSON.stringify(documentOf([fake])));
    const running = start(["--config", path]);
    const port = await running.port();
    await running.logged("readiness of an endpoint changed");
    const [streaming, idle] = [await open(port), await open(port)];
    streaming.post(streamBody);
    await streaming.until((received) => received.includes('"a"'));
    idle.post(plainBody);
    expect((await idle.answer()).status).toBe(200);
    expect((await health(running)).status).toBe(200);

    running.signal("SIGTERM");
    await running.logged("waiting for open answers to end");
    await idle.closed();
    await expect(RawClient.open(port)).rejects.toThrow("ECONNREFUSED");
    const during = await health(running);
    expect(during.status).toBe(503);
    expect(during.text).toContain('"draining":true');
    finish();
    const whole = await streaming.answer();
    expect([whole.isWhole, whole.body.toString()]).toEqual([true, event("a") + event("b", "stop") + done]);
    await streaming.closed();
    expect(await running.exited).toBe(0);
  });

  test("when the grace is over cuts a stream off with the error event", async () => {
    const fake = await engine(({ socket }) => void socket.write(`${streamHead}${chunk(event("a"))}`));
    const path = join(folder, "router.yaml");
    await writeFile(path, JSON.stringify(documentOf([fake], { timeouts: { shutdownGraceMs: 200 } })));
    const running = start(["--config", path]);
    await running.logged("readiness of an endpoint changed");
    const streaming = await open(await running.port());
    streaming.post(streamBody);
    await streaming.until((received) => received.includes('"a"'));
    running.signal("SIGTERM");
    const cut = await streaming.answer();
    expect(cut.body.toString()).toContain('"code":"stream_interrupted"');
    expect(cut.body.toString()).not.toContain("[DONE]");
    expect(await running.exited).toBe(0);
    await waitFor(() => fake.requests[0]?.socket.destroyed === true);
  });

  test("takes a changed file over on SIGHUP, and goes on with the old one when it is bad", async () => {
    const [first, second] = [await engine(answering), await engine(answering)];
    const path = join(folder, "router.yaml");
    await writeFile(path, JSON.stringify(documentOf([first])));
    const running = start(["--config", path]);
    const port = await running.port();
    await running.logged("readiness of an endpoint changed");
    const asking = await open(port);
    const status = async () => {
      asking.post(plainBody);
      return (await asking.answer()).status;
    };
    expect(await status()).toBe(200);
    await writeFile(path, JSON.stringify({ ...documentOf([first]), slowStartMs: "soon" }));
    running.signal("SIGHUP");
    await running.logged("the config file is not good; the router goes on with the one before");
    expect(running.log).toContain("slowStartMs: ");
    expect((await health(running)).text).toContain("slowStartMs: ");
    expect(await status()).toBe(200);
    await writeFile(path, JSON.stringify(documentOf([second])));
    await running.logged("the config file is in force"); // without a signal: the change is seen
    expect(await status()).toBe(200);
    expect(second.requests).toHaveLength(1);
  });

  test("serves from the table on disk while no admin answers, and keeps keys out of what it shows", async () => {
    const fake = await engine(answering);
    const table = {
      clusterId: "cluster_1",
      version: 7,
      keys: [
        {
          id: "key_1",
          sha256: "b7b0c0d4f6a6d9a54d2cc9d5a1d9b7f1b1c9d5a1d9b7f1b1c9d5a1d9b7f1b1c9",
          models: ["*"],
          maxBand: "standard",
          expiresAt: null,
          revoked: false,
        },
      ],
      models: [
        {
          id: "m1",
          aliases: [],
          policy: "round-robin",
          timeouts: { firstByteMs: null, idleMs: null, progressMs: null },
          endpoints: [
            {
              replica: "m1-aaaaa",
              generation: 3,
              url: fake.url,
              metricsUrl: null,
              pool: "none",
              engine: "sim",
              state: "serving",
              maxInflight: null,
              maxConcurrent: 8,
              apiKey: "engine-secret",
            },
          ],
        },
      ],
    };
    await writeFile(join(folder, "table.json"), JSON.stringify(table), { mode: 0o600 });
    const running = start(["--data-dir", folder, "--admin-url", "http://127.0.0.1:1"], { LLMGW_ROUTER_TOKEN: "token" });
    await running.logged("the admin does not answer");
    await running.logged("readiness of an endpoint changed");
    const asking = await open(await running.port());
    asking.post(plainBody);
    expect((await asking.answer()).status).toBe(401);
    const told = await health(running);
    expect([told.status, told.text.includes('"source":"disk"')]).toEqual([200, true]);
    const pages = await fetch(`http://127.0.0.1:${await running.diagnosticsPort()}/debug/endpoints`);
    const shown = await pages.text();
    expect(shown).toContain('"generation":3');
    expect(shown + running.log).not.toMatch(/engine-secret|b7b0c0d4/);
    expect((await stat(join(folder, "router.json"))).mode & 0o777).toBe(0o600);
  });

  test("with a file that is not there ends with code 2 and a sentence, no stack", async () => {
    const running = start(["--config", "/nonexistent/router.yaml"]);
    expect(await running.exited).toBe(2);
    expect(running.stderr).toContain("/nonexistent/router.yaml cannot be read");
    expect(running.stderr).not.toContain("    at ");
  });
});
