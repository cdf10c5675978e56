import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { hostPort, listen } from "./listen.ts";

test("port 0 answers with the port the system chose", async () => {
  const server = createServer();
  const bound = await listen(server, { host: "127.0.0.1", port: 0 }, "LLMGW_ROUTER_LISTEN");
  expect(bound).toEqual({ host: "127.0.0.1", port: expect.any(Number), url: `http://127.0.0.1:${bound.port}` });
  expect(bound.port).toBeGreaterThan(0);
  server.close();
  await once(server, "close");
});

test("a busy port names the address, the setting and, on Linux, the process that holds it", async () => {
  const holder = createServer();
  const { port } = await listen(holder, { host: "127.0.0.1", port: 0 }, "A");
  const setting = { env: "LLMGW_ROUTER_LISTEN", flag: "listen" };
  const attempt = listen(createServer(), { host: "127.0.0.1", port }, setting);
  await expect(attempt).rejects.toBeInstanceOf(ConfigError);
  const pid = process.platform === "linux" ? ` (pid ${process.pid})` : "";
  await expect(attempt).rejects.toThrow(
    `127.0.0.1:${port} is in use. Set LLMGW_ROUTER_LISTEN (or --listen) to a free address, or stop the program that holds it${pid}`,
  );
  holder.close();
  await once(holder, "close");
});

test("an address of another machine is a configuration error that names the setting", async () => {
  const attempt = listen(createServer(), { host: "192.0.2.1", port: 0 }, "LLMGW_ADMIN_LISTEN");
  await expect(attempt).rejects.toThrow("192.0.2.1:0 is no address of this machine. Set LLMGW_ADMIN_LISTEN");
  expect(hostPort({ host: "::1", port: 80 })).toBe("[::1]:80");
});
