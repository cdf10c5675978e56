import { readFile } from "node:fs/promises";
import type { Logger, PortRange } from "@llmgw/service";

const rangePath = "/proc/sys/net/ipv4/ip_local_port_range";

/**
 * Warns when engines' ports lie in the range from which the kernel takes ports for outgoing connections: such a
 * connection may then hold a port that an engine is given.
 */
export async function warnOfEphemeralPorts(ports: PortRange, log: Logger): Promise<void> {
  const [first, last] = await ephemeralRange();
  if (first === undefined || last === undefined || ports.last < first || ports.first > last) return;
  log.warn(
    { ports, ephemeral: { first, last } },
    "LLMGW_AGENT_PORTS overlaps the system's range for outgoing connections: an engine may find its port taken",
  );
}

async function ephemeralRange(): Promise<number[]> {
  try {
    return (await readFile(rangePath, "utf8")).trim().split(/\s+/).map(Number);
  } catch {
    return []; // not Linux: nothing to compare with
  }
}
