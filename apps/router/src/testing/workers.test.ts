import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readStaticConfig } from "../registry/static-config.ts";
import { shareOf } from "../workers/worker-share.ts";
import { chunk, done, event, lastChunk, streamHead } from "./fake-engine.ts";
import { documentOf, okAnswer, plainBody, streamBody, useKit } from "./kit.ts";
import { RawClient } from "./raw-client.ts";
import { RouterProcess } from "./router-process.ts";
import { waitFor } from "./test-router.ts";

const { engine } = useKit();

interface WorkerHealth {
  readonly pid: number;
  readonly restarts: number;
  readonly status: string;
}

describe("several workers", { timeout: 120_000 }, () => {
  let folder = "";
  let running: RouterProcess | null = null;
  const clients: RawClient[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "llmgw-workers-"));
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    running?.signal("SIGTERM");
    await running?.exited;
    await rm(folder, { recursive: true });
  });

  const start = async (document: object, count = 2) => {
    const path = join(folder, "router.yaml");
    await writeFile(path, JSON.stringify(document));
    running = new RouterProcess(["--config", path, "--workers", String(count)]);
    const diagnostics = `http://127.0.0.1:${await running.diagnosticsPort()}`;
    const port = await running.port();
    const health = async () => {
      const answer = await fetch(`${diagnostics}/health`);
      const body: { workers: WorkerHealth[] } = JSON.parse(await answer.text());
      return { status: answer.status, workers: body.workers };
    };
    while ((await health()).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    return { process: running, port, diagnostics, health };
  };
  const open = async (port: number) => {
    const opened = await RawClient.open(port);
    clients.push(opened);
    return opened;
  };
  const ask = async (port: number) => {
    const asking = await open(port);
    asking.post(plainBody);
    return (await asking.answer()).status;
  };
  const counted = async (diagnostics: string, name: string) => {
    const text = await (await fetch(`${diagnostics}/metrics`)).text();
    const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  };

  test("serve one port, count together, keep a limit together, are replaced, and let streams end", async () => {
    let finish: () => void = () => undefined;
    const fake = await engine((request) => {
      if (request.body.includes("held")) return;
      if (!request.body.includes('"stream":true')) request.socket.write(okAnswer);
      else {
        request.socket.write(`${streamHead}${chunk(event("a"))}`);
        finish = () => void request.socket.write(`${chunk(event("b", "stop") + done)}${lastChunk}`);
      }
    });
    const { process: router, port, diagnostics, health } = await start(documentOf([fake], {}, [{ maxInflight: 3 }]));

    for (let round = 0; round < 10; round += 1) expect(await ask(port)).toBe(200);
    expect(await counted(diagnostics, "llmgw_requests_total")).toBe(10);
    expect(JSON.parse(await (await fetch(`${diagnostics}/debug/endpoints`)).text())).toHaveLength(2);

    for (let count = 0; count < 12; count += 1) (await open(port)).post(plainBody.replace("hi", "held"));
    await waitFor(() => fake.requests.length === 13);
    for (const client of clients.splice(0)) client.close();
    expect(fake.requests).toHaveLength(13);

    const [first] = (await health()).workers;
    process.kill(first?.pid ?? -1, "SIGKILL");
    let { workers } = await health();
    while (workers.some(({ pid }) => pid === first?.pid)) ({ workers } = await health());
    expect(await ask(port)).toBe(200);
    while (!workers.every(({ status }) => status === "ok")) ({ workers } = await health());
    expect(workers.map(({ restarts }) => restarts).sort((a, b) => a - b)).toEqual([0, 1]);

    const streaming = await open(port);
    streaming.post(streamBody);
    await streaming.until((received) => received.includes('"a"'));
    router.signal("SIGTERM");
    await router.logged("waiting for open answers to end");
    finish();
    const whole = await streaming.answer();
    expect([whole.isWhole, whole.body.toString()]).toEqual([true, event("a") + event("b", "stop") + done]);
    expect(await router.exited).toBe(0);
    await expect(RawClient.open(port)).rejects.toThrow("ECONNREFUSED");
  });

  test("do not start with a limit that they cannot share", async () => {
    const path = join(folder, "router.yaml");
    await writeFile(path, JSON.stringify(documentOf(["http://127.0.0.1:1"], {}, [{ maxInflight: 1 }])));
    running = new RouterProcess(["--config", path, "--workers", "2"]);
    expect(await running.exited).toBe(2);
    expect(running.stderr).toContain("endpoint r1 has maxInflight 1, which 2 workers cannot share");
  });
});

test("workers' shares of every limit add up to the whole", () => {
  const reading = readStaticConfig(documentOf(["http://127.0.0.1:1"], {}, [{ maxInflight: 7 }]), 1);
  if (reading.kind === "invalid") throw new Error(reading.problems.join());
  const shares = [0, 1, 2].map((index) => shareOf(reading.config, { index, count: 3 }));
  const parts = shares.map((share) => (share.kind === "ok" ? share.config : null));
  const sum = (read: (config: NonNullable<(typeof parts)[number]>) => number) =>
    parts.reduce((total, config) => total + (config === null ? 0 : read(config)), 0);
  expect(sum(({ table }) => table.models[0]?.endpoints[0]?.maxInflight ?? 0)).toBe(7);
  expect(sum(({ settings }) => settings.admission.bodyMemoryBytes)).toBe(
    reading.config.settings.admission.bodyMemoryBytes,
  );
  expect(parts.map((config) => config?.table.routers)).toEqual([3, 3, 3]);
});
