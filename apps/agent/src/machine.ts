import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createSocket } from "node:dgram";
import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { readJsonFile, sha256Hex, writeFileAtomic } from "@llmgw/service";
import { z } from "zod";

/** What tells this machine from others (over boots) and this boot from others. */
export interface Machine {
  readonly machineId: string;
  readonly bootId: string;
}

/**
 * The machine's id, hashed with this agent's data folder: systemd asks that the id itself is not sent anywhere
 * (machine-id(5)), and two agents of one machine are two nodes. Without one, an id that is kept in the data folder.
 */
export async function readMachine(dataDir: string): Promise<Machine> {
  const systemId = (await textOrNull("/etc/machine-id")) ?? (await keptId(join(dataDir, "machine-id.json")));
  return { machineId: sha256Hex(`llmgw ${systemId} ${dataDir}`).slice(0, 32), bootId: await readBootId() };
}

async function readBootId(): Promise<string> {
  const linux = await textOrNull("/proc/sys/kernel/random/boot_id");
  if (linux !== null) return linux;
  const { stdout } = spawnSync("sysctl", ["-n", "kern.boottime"], { encoding: "utf8", timeout: 5_000 });
  const text = (stdout ?? "").trim();
  if (text === "")
    throw new Error("this system tells neither a boot id (/proc) nor its boot time (sysctl kern.boottime)");
  return sha256Hex(text).slice(0, 32);
}

async function keptId(path: string): Promise<string> {
  const file = await readJsonFile(path, z.object({ machineId: z.string().min(1) }));
  if (file.kind === "ok") return file.value.machineId;
  const machineId = randomUUID();
  await writeFileAtomic(path, `${JSON.stringify({ machineId })}\n`);
  return machineId;
}

async function textOrNull(path: string): Promise<string | null> {
  try {
    const text = (await readFile(path, "utf8")).trim();
    return text === "" ? null : text;
  } catch {
    return null; // absent or unreadable: the caller has another way
  }
}

/**
 * The address of this machine that the admin is reached from: what a datagram to it would be sent from (nothing is
 * sent, so it is known while the admin is down). Null when the admin's name cannot be resolved.
 */
export function localAddressTowards(adminUrl: string): Promise<string | null> {
  const host = new URL(adminUrl).hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
    const answer = (address: string | null) => {
      socket.close();
      resolve(address);
    };
    socket.once("error", () => answer(null));
    socket.connect(9, host, () => answer(socket.address().address));
  });
}

/** The first address of this machine that is not loopback; loopback when there is no other. */
export function anyOwnAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.1";
}
