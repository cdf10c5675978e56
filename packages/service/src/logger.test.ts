import { expect, test } from "vitest";
import { createLogger, type LoggerOptions } from "./logger.ts";

function captured(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ name: "router", level: "info", destination, ...options });
  return { log, lines };
}

test("a record is one JSON line with an ISO time, the level as a word, the service and its version", () => {
  const { log, lines } = captured();
  log.warn({ replica: "m-abcde" }, "breaker opened");
  log.debug("below the level");
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    level: "warn",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    service: "router",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    replica: "m-abcde",
    msg: "breaker opened",
  });
});

test("credentials never reach the log, however deep they stand", () => {
  const { log, lines } = captured();
  const secret = "hunter2";
  log.info({ token: secret, request: { headers: { authorization: secret, cookie: secret, "set-cookie": [secret] } } });
  log.info({ endpoint: { apiKey: secret }, "set-cookie": secret, key: { secret }, body: { password: secret } });
  expect(lines).toHaveLength(2);
  expect(lines.join()).not.toContain(secret);
});

test("an error is logged with its stack and causes", () => {
  const { log, lines } = captured();
  log.error({ error: new Error("outer", { cause: new Error("inner") }) }, "failed");
  expect(JSON.parse(lines[0] ?? "").error).toMatchObject({ message: "outer", cause: { message: "inner" } });
});

test("a pretty record is one readable line, an error's stack below it", () => {
  const { log, lines } = captured({ pretty: true });
  log.info({ port: 8080, token: "x" }, "ready");
  log.error({ error: new Error("boom") }, "failed");
  expect(lines[0]).toMatch(/^[\d:.]{12} {2}info {3}router {2}ready {2}port=8080 {2}token=\[redacted\]\n$/);
  expect(lines[1]).toMatch(/failed\nError: boom\n/);
});
