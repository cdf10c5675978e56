import { createServer, type Server } from "node:http";
import { type AddressSetting, type BoundAddress, listen } from "../listen.ts";
import type { Logger } from "../logger.ts";
import type { RunGroupPart } from "../run-group.ts";
import type { ListenAddress } from "../setting-schemas.ts";
import type { DiagnosticsHandler } from "./handler.ts";
import { problem, send } from "./respond.ts";

export interface DiagnosticsServerOptions {
  readonly listen: ListenAddress;
  /** The setting that chose the address, to name it when it is in use. */
  readonly variable: AddressSetting;
  readonly handler: DiagnosticsHandler;
  readonly log: Logger;
}

export interface DiagnosticsServer extends RunGroupPart {
  /** The bound address, once `run` was called; rejects if it cannot be bound. */
  readonly address: Promise<BoundAddress>;
}

/**
 * The diagnostics listener as a part of a run group. It stops last, so that a draining program can be watched to its
 * end, and then at once: no request to it is worth waiting for.
 */
export function serveDiagnostics(options: DiagnosticsServerOptions): DiagnosticsServer {
  const { handler, log } = options;
  let resolveAddress: (address: BoundAddress) => void;
  let rejectAddress: (error: unknown) => void;
  const address = new Promise<BoundAddress>((resolve, reject) => {
    resolveAddress = resolve;
    rejectAddress = reject;
  });
  address.catch(() => undefined); // `run` rejects with the same error; not everyone also awaits the address

  return {
    name: "diagnostics",
    stopsLast: true,
    address,
    run: async (signal) => {
      const server = createServer((request, response) => {
        if (!handler(request, response)) send(response, problem(404, `no such page: ${request.url}`));
      });
      try {
        const bound = await listen(server, options.listen, options.variable);
        log.info({ url: bound.url }, "diagnostics listener ready");
        resolveAddress(bound);
      } catch (error) {
        rejectAddress(error);
        throw error;
      }
      await untilAborted(server, signal);
    },
  };
}

/** Resolves once the signal aborted and the server is closed; rejects if the listener fails meanwhile. */
function untilAborted(server: Server, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const close = () => {
      server.close(() => resolve());
      server.closeAllConnections();
    };
    server.once("error", reject);
    if (signal.aborted) close();
    else signal.addEventListener("abort", close, { once: true });
  });
}
