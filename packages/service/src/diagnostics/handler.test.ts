import { gunzipSync } from "node:zlib";
import { Counter, Registry } from "prom-client";
import { expect, test } from "vitest";
import { createLogger } from "../logger.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { createDiagnosticsHandler, type DiagnosticsOptions, type Health } from "./handler.ts";
import { serveDiagnostics } from "./serve.ts";

/** A diagnostics listener on a free port; `await using` stops it. */
async function serving(options: Partial<DiagnosticsOptions> = {}) {
  const registry = new Registry();
  new Counter({ name: "llmgw_test_total", help: "a counter", registers: [registry] }).inc(3);
  const handler = createDiagnosticsHandler({
    registry,
    health: () => ({ status: "ok", endpoints: 2 }),
    version: "1.2.3",
    argv: ["node", "main.ts", "--token", "hunter2", "--api-key=hunter2", "--listen", "a:1"],
    ...options,
  });
  const log = createLogger({ name: "test", level: "silent" });
  const server = serveDiagnostics({ listen: { host: "127.0.0.1", port: 0 }, variable: "X", handler, log });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  const { url } = await server.address;
  return {
    get: (path: string, init?: RequestInit) => fetch(`${url}${path}`, { redirect: "manual", ...init }),
    [Symbol.asyncDispose]: async () => {
      stop.abort(new Error("test over"));
      await running;
    },
  };
}

test("/metrics is Prometheus text of the registry", async () => {
  await using server = await serving();
  const response = await server.get("/metrics");
  expect(response.headers.get("content-type")).toContain("text/plain");
  expect(await response.text()).toContain("llmgw_test_total 3");
});

test("/health answers 200 or 503 with its detail and the version", async () => {
  let health: Health = { status: "ok", endpoints: 2 };
  await using server = await serving({ health: () => health });
  const good = await server.get("/health");
  expect([good.status, await good.json()]).toEqual([200, { status: "ok", endpoints: 2, version: "1.2.3" }]);
  health = { status: "not_ready", why: "no table" };
  const bad = await server.get("/health");
  expect([bad.status, await bad.json()]).toEqual([503, { status: "not_ready", why: "no table", version: "1.2.3" }]);
});

test("HEAD answers like GET without a body, and does not record a profile", async () => {
  await using server = await serving();
  for (const path of ["/metrics", "/health", "/debug/pprof/", "/debug/pprof/profile"]) {
    const response = await server.get(path, { method: "HEAD" });
    expect([path, response.status, await response.text()]).toEqual([path, 200, ""]);
  }
});

test("with a token every route but /health wants it as a bearer", async () => {
  await using server = await serving({ token: "s3cret", pages: { "/debug/endpoints": () => [] } });
  expect((await server.get("/health")).status).toBe(200);
  for (const path of ["/metrics", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/endpoints", "/debug/nothing"]) {
    const wrong = await server.get(path, { headers: { authorization: "Bearer s3cre" } });
    expect([path, (await server.get(path)).status, wrong.status]).toEqual([path, 401, 401]);
  }
  expect((await server.get("/metrics", { headers: { authorization: "bearer s3cret" } })).status).toBe(200);
});

test("a program's own page is JSON; unknown pages are a JSON 404, wrong methods a 405, a failing page a 500", async () => {
  const pages = {
    "/debug/endpoints": () => [{ replica: "m-abcde" }],
    "/debug/broken": () => {
      throw new Error("no table");
    },
  };
  await using server = await serving({ pages });
  expect(await (await server.get("/debug/endpoints")).json()).toEqual([{ replica: "m-abcde" }]);
  for (const path of ["/debug/nothing", "/debug/pprof/nothing", "/other"]) {
    const response = await server.get(path);
    expect([response.status, await response.json()]).toEqual([404, { error: { message: expect.any(String) } }]);
  }
  expect((await server.get("/metrics", { method: "POST" })).status).toBe(405);
  const broken = await server.get("/debug/broken");
  expect([broken.status, await broken.text()]).toEqual([500, expect.stringContaining("no table")]);
});

test("the pprof index, cmdline without credentials, and symbol answer as Go's do", async () => {
  await using server = await serving();
  const bare = await server.get("/debug/pprof");
  expect([bare.status, bare.headers.get("location")]).toEqual([301, "/debug/pprof/"]);
  expect(await (await server.get("/debug/pprof/")).text()).toContain("profile?seconds=30");
  expect((await (await server.get("/debug/pprof/cmdline")).text()).split("\0")).toEqual([
    "node",
    "main.ts",
    "--token",
    "[redacted]",
    "--api-key=[redacted]",
    "--listen",
    "a:1",
  ]);
  for (const method of ["GET", "POST"]) {
    expect(await (await server.get("/debug/pprof/symbol", { method })).text()).toBe("num_symbols: 0\n");
  }
});

test.each(["profile", "heap"])("a %s is a gzipped pprof profile that names functions", async (name) => {
  await using server = await serving();
  const recording = server.get(`/debug/pprof/${name}?seconds=1`);
  const response = await recording;
  expect(response.status).toBe(200);
  const profile = gunzipSync(Buffer.from(await response.arrayBuffer()));
  // The string table of a CPU profile holds its sample types "sample" and "wall", of a heap profile "objects" and "space".
  for (const word of name === "heap" ? ["objects", "space"] : ["sample", "wall"])
    expect(profile.includes(word)).toBe(true);
});

test("a trace is a .cpuprofile", async () => {
  await using server = await serving();
  const trace = await (await server.get("/debug/pprof/trace?seconds=1")).json();
  expect(trace).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array), timeDeltas: expect.any(Array) });
});

test("one recording at a time: a second is refused, and a client that leaves ends its own", async () => {
  const clock = new ManualClock();
  await using server = await serving({ clock });
  const leaving = new AbortController();
  const first = server.get("/debug/pprof/trace?seconds=60", { signal: leaving.signal });
  await until(() => clock.sleepers === 1);
  const second = await server.get("/debug/pprof/profile?seconds=1");
  expect([second.status, await second.text()]).toEqual([409, expect.stringContaining('\\"trace\\" is in progress')]);
  leaving.abort();
  await expect(first).rejects.toThrow();
  await until(() => clock.sleepers === 0);
  const third = server.get("/debug/pprof/trace?seconds=2");
  await until(() => clock.sleepers === 1);
  await clock.advance(2_000);
  expect((await third).status).toBe(200);
});

test.each(["0", "61", "-1", "1.5", "soon", ""])("seconds=%s is refused with what was expected", async (seconds) => {
  await using server = await serving();
  const response = await server.get(`/debug/pprof/profile?seconds=${seconds}`);
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("from 1 to 60")]);
});

/** Turns the event loop until something holds; the test's own timeout bounds it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
