import { readFile } from "node:fs/promises";
import type { Logger, PortRange } from "@llmgw/service";

const rangePath = "/proc/sys/net/ipv4/ip_local_port_range";

/**
 * Warns when engines' ports lie in the range from which the kernel takes ports for outgoing connections: such a
 * connection may then hold a port that an engine is given.
 */
export async function warnOfEphemeralPorts(ports: PortRange, log: Logger): Promise<void> {
  const ephemeral = await readEphemeralRange();
  if (ephemeral === null || ports.last < ephemeral.first || ports.first > ephemeral.last) return;
  log.warn(
    { ports, ephemeral },
    "LLMGW_AGENT_PORTS overlaps the system's range for outgoing connections: an engine may find its port taken",
  );
}

/** The ports that this system gives to outgoing connections; null where that cannot be read. */
export async function readEphemeralRange(): Promise<PortRange | null> {
  try {
    const [first, last] = (await readFile(rangePath, "utf8")).trim().split(/\s+/).map(Number);
    return first === undefined || last === undefined ? null : { first, last };
  } catch {
    return null; // not Linux: nothing to compare with
  }
}
