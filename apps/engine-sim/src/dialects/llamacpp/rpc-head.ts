import { connect, type Socket } from "node:net";

export interface RpcLink {
  readonly host: string;
  readonly port: number;
}

/** The head's hold on its workers: told when one is lost, and whether all of them answer. */
export interface RpcWatch {
  close(): void;
}

const PING_MS = 50;
/** Without an answer for this long a worker counts as frozen. */
const FROZEN_MS = 250;
const CONNECT_MS = 2_000;

/** Connects to every worker; the first that cannot be reached is the outcome. */
export async function connectWorkers(
  workers: readonly RpcLink[],
): Promise<Socket[] | { readonly unreachable: RpcLink }> {
  const sockets: Socket[] = [];
  for (const worker of workers) {
    const socket = await connectTo(worker);
    if (socket === null) {
      for (const each of sockets) each.destroy();
      return { unreachable: worker };
    }
    sockets.push(socket);
  }
  return sockets;
}

async function connectTo({ host, port }: RpcLink): Promise<Socket | null> {
  return await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    socket.once("connect", () => {
      socket.setTimeout(0);
      resolve(socket);
    });
    for (const event of ["error", "timeout"] as const) {
      socket.once(event, () => {
        socket.destroy();
        resolve(null);
      });
    }
  });
}

/**
 * Watches connected workers. A frozen one stops all computing and nothing else; a lost one is the head's end.
 *
 * @param frozen called when the workers begin, and cease, to hold the head up
 */
export function watchWorkers(
  sockets: readonly Socket[],
  on: { readonly lost: () => void; readonly frozen: (frozen: boolean) => void },
): RpcWatch {
  const heardAtMs = new Map<Socket, number>();
  let closing = false;
  let wasFrozen = false;
  for (const socket of sockets) {
    heardAtMs.set(socket, performance.now());
    socket.on("data", () => void heardAtMs.set(socket, performance.now()));
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      if (!closing) on.lost();
    });
  }
  const timer = setInterval(() => {
    for (const socket of sockets) socket.write(".");
    const isFrozen = [...heardAtMs.values()].some((atMs) => performance.now() - atMs > FROZEN_MS);
    if (isFrozen !== wasFrozen) on.frozen(isFrozen);
    wasFrozen = isFrozen;
  }, PING_MS);
  return {
    close() {
      closing = true;
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}
