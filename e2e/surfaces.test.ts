import { permissions } from "@llmgw/api";
import { expect, test } from "vitest";
import { Cluster } from "./harness/cluster.ts";

test("each listener answers only its own audience", async () => {
  await using cluster = await Cluster.start({ nodes: [], routers: 1 });
  const router = cluster.routers[0];
  for (const path of [
    "/metrics",
    "/debug/pprof",
    "/debug/pprof/heap",
    "/debug/endpoints",
    "/health",
    "/api/trpc/nodes.list",
    "/",
    "/nodes",
  ]) {
    const answer = await fetch(`${router?.url}${path}`, { headers: { authorization: `Bearer ${cluster.apiKey}` } });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.headers.get("content-type")).toContain("application/json");
  }
  for (const path of Object.keys(permissions)) {
    for (const headers of [
      {},
      { authorization: `Bearer ${cluster.apiKey}` },
      { authorization: "Bearer llmgw_op_wrong" },
    ]) {
      for (const method of ["GET", "POST"]) {
        const body = method === "POST" ? { body: "{}" } : {};
        const answer = await fetch(`${cluster.adminUrl}/api/trpc/${path}`, {
          method,
          headers: { "content-type": "application/json", ...headers },
          ...body,
        });
        expect([401, 403, 405], `${method} ${path}`).toContain(answer.status);
        expect(await answer.text()).not.toContain("result");
      }
    }
  }
  for (const path of ["/", "/nodes", "/audit", "/metrics", "/debug/pprof/", "/debug/pprof/heap"]) {
    const answer = await fetch(`${cluster.adminUrl}${path}`, { redirect: "manual" });
    expect([path, [303, 307, 401].includes(answer.status)]).toEqual([path, true]);
    expect(await answer.text()).not.toContain("cluster_");
  }
  expect((await fetch(`${cluster.adminUrl}/health`)).status).toBe(200);
  const diagnostics = await (await fetch(`${router?.diagnosticsUrl}/metrics`)).text();
  for (const family of [
    "llmgw_endpoint_inflight",
    "llmgw_endpoint_waiting",
    "llmgw_endpoint_running",
    "llmgw_endpoint_kv_cache_usage",
    "llmgw_endpoint_drain_rate",
    "llmgw_endpoint_metrics_stale",
    "llmgw_endpoint_breaker_open",
    "llmgw_admission_queue_depth",
    "llmgw_pool_saturation",
  ]) {
    expect(diagnostics).toContain(`# TYPE ${family} gauge`);
  }
});
