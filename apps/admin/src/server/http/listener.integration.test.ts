import { request } from "node:http";
import { expect, test } from "vitest";
import { testDatabase } from "../db/testing/test-database.ts";
import { startTestAdmin } from "../testing/test-admin.ts";

/** The status that a request with this Host header gets; fetch does not let one choose it. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`${url}/health`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

test("a link signs one browser in, once; the session works for pages and the API, and only from the own site", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const { url } = admin;
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { headers, redirect: "manual" });

  const bare = await get("/nodes");
  expect([bare.status, bare.headers.get("location")]).toEqual([303, "/sign-in"]);
  expect(await (await get("/sign-in")).text()).toBe("page"); // of the dashboard, which stands in for itself here

  const link = await admin.client.access.createSignInLink.mutate({});
  const tries = await Promise.all([get(link.path), get(link.path)]);
  expect(tries.map((response) => response.headers.get("location")).sort()).toEqual(["/", "/sign-in?error=link"]);
  expect((await get("/sign-in?error=link")).status).toBe(200);
  const set = tries.map((response) => response.headers.get("set-cookie") ?? "").join("");
  expect(set).toMatch(/^llmgw_session=llmgw_session_\w{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
  const cookie = set.split(";", 1)[0] ?? "";

  const page = await get("/nodes", { cookie });
  expect(page.status).toBe(200);
  expect(page.headers.get("content-security-policy")).toMatch(/script-src 'self' 'nonce-[\w+/=]+' 'strict-dynamic'/);
  expect((await get("/api/trpc/cluster.whoAmI", { cookie })).status).toBe(200);
  expect((await get("/api/trpc/cluster.whoAmI", { cookie, "sec-fetch-site": "cross-site" })).status).toBe(403);

  const post = (headers: Record<string, string>, body = "{}") =>
    fetch(`${url}/api/trpc/access.createSignInLink`, { method: "POST", headers: { cookie, ...headers }, body });
  const json = { "content-type": "application/json" };
  expect((await post({ ...json, "sec-fetch-site": "same-origin" })).status).toBe(200);
  expect((await post({ ...json, origin: url })).status).toBe(200);
  expect((await post({ ...json, "sec-fetch-site": "cross-site", origin: "http://evil.example" })).status).toBe(403);
  expect((await post({ ...json, "sec-fetch-site": "same-site" })).status).toBe(403);
  expect((await post(json)).status).toBe(403);
  expect(
    (await post({ "content-type": "multipart/form-data; boundary=x", "sec-fetch-site": "same-origin" })).status,
  ).toBe(403);
});

test("the admin answers under its own names only, and each diagnostics page needs its role", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const { url, tokens } = admin;
  expect(await statusFor(url, new URL(url).host)).toBe(200);
  expect(await statusFor(url, "localhost")).toBe(200);
  expect(await statusFor(url, "rebound.example:7070")).toBe(421);

  const status = async (path: string, token?: string) =>
    (await fetch(url + path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await status("/health")).toBe(200);
  expect(await status("/metrics")).toBe(401);
  expect(await status("/metrics", tokens.viewer)).toBe(403);
  expect(await status("/metrics", tokens.operator)).toBe(200);
  expect(await status("/metrics", tokens.router)).toBe(403);
  expect(await status("/debug/pprof/cmdline", tokens.operator)).toBe(403);
  expect(await status("/debug/pprof/cmdline", tokens.admin)).toBe(200);
  expect(await status("/debug/nothing", tokens.admin)).toBe(404);
});

test("every answer carries the security headers, and a refused call names its request", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const response = await fetch(`${admin.url}/api/trpc/cluster.get`);
  expect(response.status).toBe(401);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
  });
  const body = (await response.json()) as { error: { data: { requestId: string } } };
  expect(body.error.data.requestId).toBe(response.headers.get("x-request-id"));
});
