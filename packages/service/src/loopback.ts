import { BlockList, isIP } from "node:net";
import { ConfigError } from "./config-error.ts";

/** True when only this machine can reach the host: 127.0.0.0/8, ::1, or the name "localhost". */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === "localhost";
  const loopback = new BlockList();
  loopback.addSubnet("127.0.0.0", 8, "ipv4");
  loopback.addAddress("::1", "ipv6");
  return loopback.check(host, family === 4 ? "ipv4" : "ipv6");
}

export interface PlaintextBind {
  readonly host: string;
  /** The value of `LLMGW_ALLOW_PLAINTEXT`. */
  readonly allowPlaintext: boolean;
  /** The setting that chose the host, to name it. */
  readonly variable: string;
}

/** Throws a `ConfigError` when a listener without TLS would be reachable from other machines and that was not allowed. */
export function refusePlaintextOffLoopback({ host, allowPlaintext, variable }: PlaintextBind): void {
  if (allowPlaintext || isLoopback(host)) return;
  throw new ConfigError([
    `${variable} is "${host}", which other machines can reach, and this listener speaks plain HTTP: use 127.0.0.1 behind a TLS proxy, or set LLMGW_ALLOW_PLAINTEXT=1 on a network you trust`,
  ]);
}
