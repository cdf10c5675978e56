import { connect, createServer, type Server, type Socket } from "node:net";
import { sleep } from "./load-script.ts";

/** How the processes of a replica that spans nodes find each other: rank 0 listens, the others connect to it. */
export interface RendezvousOptions {
  readonly nodes: number;
  readonly rank: number;
  readonly address: string;
  readonly port: number;
  readonly timeoutMs: number;
}

export type RendezvousOutcome =
  | { readonly kind: "joined"; readonly group: ShardGroup }
  | { readonly kind: "timeout"; readonly joined: number }
  | { readonly kind: "unreachable" }
  | { readonly kind: "address_in_use" }
  | { readonly kind: "stopped" };

/** The connected processes. */
export interface ShardGroup {
  /** Aborts when another process of the group is gone. */
  readonly peerLost: AbortSignal;
  leave(): void;
}

const RETRY_MS = 100;

/** Waits until all nodes are there, up to the timeout; a signal ends the wait. */
export async function joinGroup(options: RendezvousOptions, signal: AbortSignal): Promise<RendezvousOutcome> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]);
  return options.rank === 0 ? await lead(options, { signal, deadline }) : await follow(options, { signal, deadline });
}

interface Limits {
  readonly signal: AbortSignal;
  readonly deadline: AbortSignal;
}

async function lead(options: RendezvousOptions, { signal, deadline }: Limits): Promise<RendezvousOutcome> {
  const members = new Set<Socket>();
  const lost = new AbortController();
  let complete = false;
  const leave = () => {
    server.close();
    for (const member of members) {
      member.destroy();
    }
  };

  const server: Server = createServer();
  const outcome = await new Promise<RendezvousOutcome["kind"]>((resolve) => {
    server.once("error", () => resolve("address_in_use"));
    server.on("connection", (socket) => {
      members.add(socket);
      socket.on("error", () => socket.destroy());
      socket.resume();
      socket.once("close", () => {
        members.delete(socket);
        if (complete) {
          lost.abort();
        }
      });
      if (members.size === options.nodes - 1) {
        complete = true;
        resolve("joined");
      }
    });
    deadline.addEventListener("abort", () => resolve(signal.aborted ? "stopped" : "timeout"), { once: true });
    server.listen(options.port, options.address);
  });

  if (outcome === "joined") {
    for (const member of members) {
      member.write("go\n");
    }
    return { kind: "joined", group: { peerLost: lost.signal, leave } };
  }
  const joined = members.size;
  leave();
  return outcome === "timeout"
    ? { kind: "timeout", joined }
    : { kind: outcome === "stopped" ? outcome : "address_in_use" };
}

async function follow(options: RendezvousOptions, { signal, deadline }: Limits): Promise<RendezvousOutcome> {
  while (!deadline.aborted) {
    const socket = await tryConnect(options, deadline);
    if (socket !== undefined) {
      const lost = new AbortController();
      socket.once("close", () => lost.abort());
      return { kind: "joined", group: { peerLost: lost.signal, leave: () => void socket.destroy() } };
    }
    await sleep(RETRY_MS, deadline);
  }
  return signal.aborted ? { kind: "stopped" } : { kind: "unreachable" };
}

/** A connection on which the leader has said that everybody is there; undefined when it broke or time is up. */
async function tryConnect(options: RendezvousOptions, deadline: AbortSignal): Promise<Socket | undefined> {
  return await new Promise((resolve) => {
    const socket = connect(options.port, options.address);
    const giveUp = () => void socket.destroy();
    deadline.addEventListener("abort", giveUp, { once: true });
    socket.on("error", () => socket.destroy());
    socket.once("data", () => {
      deadline.removeEventListener("abort", giveUp);
      resolve(socket);
    });
    socket.once("close", () => {
      deadline.removeEventListener("abort", giveUp);
      resolve(undefined);
    });
  });
}
