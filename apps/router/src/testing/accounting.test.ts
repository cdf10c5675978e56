import { describe, expect, test } from "vitest";
import { chunk, done, event, FakeEngine, jsonAnswer, lastChunk, streamHead } from "./fake-engine.ts";
import { answering, documentOf, plainBody, streamBody, useKit } from "./kit.ts";
import { waitFor } from "./test-router.ts";

const { engine, router, client, ask } = useKit();

const usageEvent = 'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n';

describe("usage", () => {
  const document = (list: Parameters<typeof documentOf>[0], usageInjection: boolean) => {
    const whole = documentOf(list);
    return { ...whole, models: whole.models.map((model) => ({ ...model, usageInjection })) };
  };
  /** As vLLM: tells what it used when it is asked to. */
  const telling = ({ socket, body }: { socket: { write(bytes: string | Buffer): unknown }; body: Buffer }) => {
    const tells = body.includes('"include_usage":true');
    socket.write(`${streamHead}${chunk(event("a"))}${chunk(event("b", "stop") + (tells ? usageEvent : "") + done)}`);
    socket.write(lastChunk);
  };

  test("is asked for where the model says so, and kept from a client that did not ask", async () => {
    const fake = await engine(telling);
    const target = await router(document([fake], true));
    const got = await ask(target, streamBody);
    expect(got.body.toString()).toBe(event("a") + event("b", "stop") + done);
    expect(JSON.parse(fake.requests[0]?.body.toString() ?? "")).toEqual({
      ...JSON.parse(streamBody),
      stream_options: { include_usage: true },
    });
    expect(await target.metrics.registry.metrics()).toContain('llmgw_tokens_total{model="m1",kind="prompt"} 7');
    const asking = streamBody.replace('"stream":true', '"stream":true,"stream_options":{"include_usage":true}');
    const told = await ask(target, asking);
    expect(told.body.toString()).toBe(event("a") + event("b", "stop") + usageEvent + done);
    expect(fake.requests[1]?.body.toString()).toBe(asking);
  });

  test("is not asked for otherwise: the body stays as it is, and tokens are content events", async () => {
    const fake = await engine(telling);
    const target = await router(document([fake], false));
    await ask(target, streamBody);
    expect(fake.requests[0]?.body.toString()).toBe(streamBody);
    expect(await target.metrics.registry.metrics()).toContain('llmgw_tokens_total{model="m1",kind="completion"} 2');
  });
});

describe("counters", () => {
  test("have each request once, by how it really ended", async () => {
    const cut = `${streamHead}${chunk(event("a"))}`;
    const scripts: Record<string, (socket: { write(bytes: string): unknown; destroy(): unknown }) => void> = {
      ok: (socket) => void socket.write(jsonAnswer('{"choices":[]}')),
      stream: (socket) => void socket.write(`${cut}${chunk(event("b", "stop") + done)}${lastChunk}`),
      cut: (socket) => {
        socket.write(cut);
        setTimeout(() => socket.destroy(), 40);
      },
      bad: (socket) => void socket.write(jsonAnswer('{"error":{}}', 400)),
      hang: () => undefined,
    };
    const fake = await engine(({ socket, body }) => {
      scripts[/"n":"(\w+)"/.exec(body.toString())?.[1] ?? ""]?.(socket);
    });
    const target = await router(documentOf([fake]));
    const body = (kind: string) => `{"model":"m1","n":"${kind}","stream":${kind !== "ok"}}`;
    for (let round = 0; round < 3; round += 1) {
      for (const kind of ["ok", "stream", "cut", "bad"]) await ask(target, body(kind));
      const leaving = await client(target);
      leaving.post(body("hang"));
      await waitFor(() => target.endpoint("r1").inflight === 1);
      leaving.reset();
      await waitFor(() => target.endpoint("r1").inflight === 0);
      await ask(target, body("ok"), { key: "wrong" });
      await ask(target, '{"model":"nobody"}');
    }
    await target.ended(21);
    const text = await target.metrics.registry.metrics();
    const counted = [...text.matchAll(/^llmgw_requests_total\{(.*)\} (\d+)$/gm)].map(([, labels, count]) => [
      labels,
      count,
    ]);
    expect(new Set(counted)).toEqual(
      new Set([
        ['model="m1",outcome="ok",code="200",band="interactive"', "6"],
        ['model="m1",outcome="upstream_error",code="200",band="interactive"', "3"],
        ['model="m1",outcome="client_error",code="400",band="interactive"', "3"],
        ['model="m1",outcome="client_closed",code="499",band="interactive"', "3"],
        ['model="unknown",outcome="client_error",code="401",band="none"', "3"],
        ['model="unknown",outcome="client_error",code="404",band="interactive"', "3"],
      ]),
    );
    expect(text).toContain('llmgw_time_to_first_token_seconds_count{model="m1"} 6');
    expect(text).toContain('llmgw_inter_token_seconds_count{model="m1"} 3');
  });

  test("never take a label from a client's words, and forget what is no more", async () => {
    const target = await router(documentOf([await engine(answering)]));
    const series = async () =>
      (await target.metrics.registry.metrics()).split("\n").filter((line) => /^llmgw/.test(line));
    const scan = async (from: number, to: number) => {
      for (let count = from; count < to; count += 1) {
        const name = JSON.stringify(`nobody-${count}"\n\\{}`.repeat(count));
        await ask(target, `{"model":${name}}`, { headers: [`user-agent: scanner-${count}`] });
        await ask(target, plainBody, { path: `/v1/${count}` });
        await ask(target, plainBody, { key: `sk-${count}` });
        await ask(target, plainBody);
      }
    };
    await scan(1, 4);
    const before = await series();
    await scan(4, 60);
    const after = await series();
    // A label per name would add 56 series and more; a rate that is measured by now may add its few.
    expect(after.length).toBeLessThan(before.length + 10);
    expect(after.join("\n")).not.toMatch(/nobody|scanner/);
    await target.reload({ keys: [], models: [] });
    await waitFor(() => target.registry.endpoints.length === 0);
    expect((await series()).filter((line) => /"(m1|r1)"/.test(line))).toEqual([]);
  });
});

describe("retries", () => {
  test("stay within their budget when every endpoint refuses, and the largest wait is what clients hear", async () => {
    const refusing = jsonAnswer('{"error":{"message":"full"}}', 429, "retry-after: 7\r\n");
    const list = await Promise.all(
      Array.from({ length: 3 }, () => engine(({ socket }) => void socket.write(refusing))),
    );
    const target = await router(documentOf(list));
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(target, plainBody)));
    expect(answers.every(({ status, headers }) => status === 429 && headers["retry-after"] === "7")).toBe(true);
    const attempts = list.reduce((sum, { requests }) => sum + requests.length, 0);
    expect(attempts).toBeLessThanOrEqual(120);
    expect(await target.metrics.registry.metrics()).toContain(`llmgw_retries_total{model="m1"} ${attempts - 100}`);
  });
});

describe("a half-open breaker", () => {
  test("lets one request through, gives its place back when that leaves, and closes once two went well", async () => {
    let answers = false;
    const fake = await engine(({ socket }) => void (answers ? socket.write(jsonAnswer("{}")) : undefined));
    const failing = await FakeEngine.start(({ socket }) => void socket.resetAndDestroy());
    const breaker = { failures: 2, cooldownMs: 60 };
    const target = await router(documentOf([fake], { breaker }));
    const endpoint = target.endpoint("r1");
    await failing.stop();
    fake.script(({ socket }) => void socket.resetAndDestroy());
    for (let round = 0; round < 2; round += 1) expect((await ask(target, plainBody)).status).toBe(502);
    fake.script(({ socket }) => void (answers ? socket.write(jsonAnswer("{}")) : undefined));
    await waitFor(() => endpoint.breakerState(performance.now()) === "half_open");
    const seen = fake.requests.length;
    const probing = await client(target);
    probing.post(plainBody);
    await waitFor(() => fake.requests.length === seen + 1);
    const others = await Promise.all(Array.from({ length: 50 }, () => ask(target, plainBody)));
    expect(others.every(({ status, headers }) => status === 503 && Number(headers["retry-after"]) >= 1)).toBe(true);
    expect(fake.requests.length).toBe(seen + 1);
    answers = true;
    probing.reset();
    await waitFor(() => endpoint.inflight === 0);
    for (let round = 0; round < 2; round += 1) expect((await ask(target, plainBody)).status).toBe(200);
    expect(endpoint.breakerState(performance.now())).toBe("closed");
    const text = await target.metrics.registry.metrics();
    for (const state of ["open", "half_open", "closed"]) {
      expect(text).toContain(`llmgw_breaker_transitions_total{replica="r1",state="${state}"} 1`);
    }
  });
});
