import { expect, test } from "vitest";
import { isLoopback, refusePlaintextOffLoopback } from "./loopback.ts";

test.each(["127.0.0.1", "127.8.9.10", "::1", "localhost", "::ffff:127.0.0.1"])("%s is loopback", (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each(["0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "node-1", "127.0.0.1.example"])("%s is not loopback", (host) => {
  expect(isLoopback(host)).toBe(false);
});

test("plain HTTP off loopback is refused with the setting and the way out, unless it was allowed", () => {
  const bind = { host: "0.0.0.0", variable: "LLMGW_ROUTER_LISTEN" };
  expect(() => refusePlaintextOffLoopback({ ...bind, allowPlaintext: false })).toThrow(
    /LLMGW_ROUTER_LISTEN is "0\.0\.0\.0".*LLMGW_ALLOW_PLAINTEXT=1/,
  );
  refusePlaintextOffLoopback({ ...bind, allowPlaintext: true });
  refusePlaintextOffLoopback({ host: "::1", variable: "X", allowPlaintext: false });
});
