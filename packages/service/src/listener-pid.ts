import { readdir, readFile, readlink } from "node:fs/promises";

/** State "listen" in /proc/net/tcp (include/net/tcp_states.h in Linux). */
const TCP_LISTEN = "0A";

/**
 * The process that listens on a local TCP port, from Linux's /proc; undefined on other systems, or when the process
 * belongs to someone whose file descriptors we may not read.
 */
export async function findListenerPid(port: number): Promise<number | undefined> {
  const inodes = new Set<string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of (await textOrNothing(table)).split("\n").slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      const isPort = Number.parseInt(local?.split(":")[1] ?? "", 16) === port;
      if (isPort && state === TCP_LISTEN && inode !== undefined) inodes.add(`socket:[${inode}]`);
    }
  }
  if (inodes.size === 0) return undefined;
  for (const name of await namesOrNothing("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    for (const descriptor of await namesOrNothing(`/proc/${name}/fd`)) {
      if (inodes.has(await linkOrNothing(`/proc/${name}/fd/${descriptor}`))) return Number(name);
    }
  }
  return undefined;
}

// Processes end and belong to others while we look: what cannot be read is simply not the holder we can name.

async function textOrNothing(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => "");
}

async function namesOrNothing(path: string): Promise<string[]> {
  return await readdir(path).catch(() => []);
}

async function linkOrNothing(path: string): Promise<string> {
  return await readlink(path).catch(() => "");
}
