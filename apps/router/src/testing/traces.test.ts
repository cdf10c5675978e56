import { createServer } from "node:http";
import { createLogger, systemClock } from "@llmgw/service";
import { expect, test } from "vitest";
import { OtlpExporter, type Span } from "../tracing/otlp-exporter.ts";
import { jsonAnswer } from "./fake-engine.ts";
import { answering, documentOf, plainBody, useKit } from "./kit.ts";

const { engine, router, ask } = useKit();

test("a request is a span below its caller's, each attempt one below it, and engines get the attempt's", async () => {
  const list = [
    await engine(({ socket }) => void socket.write(jsonAnswer('{"error":{}}', 503))),
    await engine(({ socket }) => void socket.write(jsonAnswer('{"usage":{"prompt_tokens":4,"completion_tokens":2}}'))),
  ];
  const target = await router(documentOf(list));
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = [`traceparent: 00-${trace}-00f067aa0ba902b7-01`, "tracestate: a=b"];
  while (list[0]?.requests.length === 0) {
    target.spans.length = 0;
    expect((await ask(target, plainBody, { headers })).status).toBe(200);
  }
  const server = target.spans.find(({ kind }) => kind === "server");
  const attempts = target.spans.filter(({ kind }) => kind === "client");
  expect(server).toMatchObject({
    ...{ traceId: trace, parentSpanId: "00f067aa0ba902b7", name: "chat m1", isError: false },
    attributes: {
      ...{ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m1", "llmgw.attempts": 2 },
      ...{ "gen_ai.usage.input_tokens": 4, "gen_ai.usage.output_tokens": 2, "http.response.status_code": 200 },
    },
  });
  expect(attempts.map(({ parentSpanId, attributes }) => [parentSpanId, attributes["llmgw.replica"]])).toEqual([
    [server?.spanId, "r1"],
    [server?.spanId, "r2"],
  ]);
  const last = list[1]?.requests.at(-1)?.head ?? "";
  expect(last).toContain(`traceparent: 00-${trace}-${attempts[1]?.spanId}-01`);
  expect(last).toContain("tracestate: a=b");
  expect(JSON.stringify(target.spans)).not.toMatch(/sk-one|"hi"/);
});

test("a trace that its caller does not keep is not kept here", async () => {
  const target = await router(documentOf([await engine(answering)]));
  await ask(target, plainBody, { headers: ["traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"] });
  expect(target.spans).toEqual([]);
});

test("spans reach a collector as OTLP, the last ones when the router ends", async () => {
  const bodies: string[] = [];
  const collector = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += String(part);
    bodies.push(`${request.url} ${request.headers["x-tenant"]} ${text}`);
    response.end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const address = collector.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const exporter = new OtlpExporter({
    endpoint: `http://127.0.0.1:${port}`,
    headers: { "x-tenant": "a" },
    resource: { "service.name": "llmgw-router" },
    clock: systemClock,
    log: createLogger({ name: "test", level: "silent" }),
  });
  const span: Span = {
    ...{ traceId: "a".repeat(32), spanId: "b".repeat(16), parentSpanId: null, name: "chat m1", kind: "server" },
    ...{
      startMs: 1_700_000_000_000.5,
      endMs: 1_700_000_000_001,
      isError: true,
      attributes: { n: 1, half: 0.5, s: "x" },
    },
  };
  exporter.add(span);
  const stop = new AbortController();
  const running = exporter.run(stop.signal);
  stop.abort();
  await running;
  collector.close();
  expect(bodies).toHaveLength(1);
  expect(bodies[0]).toMatch(/^\/v1\/traces a \{/);
  const [resourceSpans] = JSON.parse(bodies[0]?.slice("/v1/traces a ".length) ?? "").resourceSpans;
  expect(resourceSpans.scopeSpans[0].spans[0]).toMatchObject({
    ...{
      kind: 2,
      startTimeUnixNano: "1700000000000500000",
      endTimeUnixNano: "1700000000001000000",
      status: { code: 2 },
    },
    attributes: [
      { key: "n", value: { intValue: "1" } },
      { key: "half", value: { doubleValue: 0.5 } },
      { key: "s", value: { stringValue: "x" } },
    ],
  });
});
