import { createServer } from "node:net";
import type { PortRange } from "@llmgw/service";

export interface PortPicker {
  /** A port of the range that can be bound on `host` now and that nothing of ours uses; null when there is none. */
  pick(host: string, taken: ReadonlySet<number>): Promise<number | null>;
}

/**
 * Goes round the range, so that a port just given back rests before it is given out again: clients of the old engine
 * may still hold connections to it.
 */
export function createPortPicker({ first, last }: PortRange): PortPicker {
  let next = first;
  /** Given out and perhaps not yet bound by its engine. */
  const recent = new Set<number>();
  const pick = async (host: string, taken: ReadonlySet<number>): Promise<number | null> => {
    for (let tried = first; tried <= last; tried += 1) {
      const port = next;
      next = port === last ? first : port + 1;
      if (taken.has(port) || recent.has(port)) continue;
      recent.add(port);
      if (await canBind(host, port)) return port;
      recent.delete(port);
    }
    return null;
  };
  return {
    pick: async (host, taken) => {
      const port = await pick(host, taken);
      // Once all have been given out, those that are not taken any more are free again.
      if (port !== null || recent.size === 0) return port;
      recent.clear();
      return await pick(host, taken);
    },
  };
}

/** True when a listener on this address could be opened now. Throws when the address is none of this machine. */
export function canBind(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => {
      if ("code" in error && (error.code === "EADDRINUSE" || error.code === "EACCES")) resolve(false);
      else reject(new Error(`cannot listen on ${host}, the address this node advertises`, { cause: error }));
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
