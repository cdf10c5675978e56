import { createServer, type RequestListener } from "node:http";
import { type BoundAddress, type ListenAddress, type Logger, listen } from "@llmgw/service";

/** Answers under way when the admin stops get this long: held polls end at once, a page needs a moment. */
const CLOSE_MS = 1_000;

/** Serves until the signal aborts, then lets answers under way finish for a moment and closes every connection. */
export async function serveHttp(
  options: {
    readonly listen: ListenAddress;
    readonly handler: RequestListener;
    readonly onListening: (address: BoundAddress) => void;
    readonly log: Logger;
  },
  signal: AbortSignal,
): Promise<void> {
  const server = createServer({ keepAliveTimeout: 75_000, headersTimeout: 20_000 }, options.handler);
  const bound = await listen(server, options.listen, { env: "LLMGW_ADMIN_LISTEN", flag: "listen" });
  options.log.info({ url: bound.url }, "admin listener ready");
  options.onListening(bound);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    const close = () => {
      const destroy = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
      server.close(() => {
        clearTimeout(destroy);
        resolve();
      });
      server.closeIdleConnections();
    };
    if (signal.aborted) close();
    else signal.addEventListener("abort", close, { once: true });
  });
}
