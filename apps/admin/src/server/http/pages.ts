import { access } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, ConfigError } from "@llmgw/service";
import type { PageHandler } from "./listener.ts";

/**
 * Loading takes a second or two of a core. At the start of an admin agents, routers and the control loop want that core
 * first, unless somebody waits for a page.
 */
const HEAD_START_MS = 10_000;

export interface Pages {
  /** Waits for the dashboard to be loaded. */
  readonly handle: PageHandler;
  /** Loads the dashboard when a page is asked for, or after a head start for everything else; keeps it until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The dashboard: Next in production mode from what `next build` left, or with `dev` compiling as it goes.
 * @throws ConfigError when it was not built.
 */
export async function openPages(options: {
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  readonly dev: boolean;
  readonly clock: Clock;
}): Promise<Pages> {
  const { directory, dev } = options;
  if (!dev && !(await exists(join(directory, ".next", "BUILD_ID")))) {
    throw new ConfigError([
      `the dashboard is not built (${join(directory, ".next", "BUILD_ID")} is missing): run "npx next build" in ${directory}, or start everything with "npm start"`,
    ]);
  }
  let loaded: (handle: PageHandler) => void;
  let failed: (error: unknown) => void;
  const ready = new Promise<PageHandler>((resolve, reject) => {
    loaded = resolve;
    failed = reject;
  });
  ready.catch(() => undefined); // `run` rejects with the same error; a page that waits gets it too
  let ask: () => void;
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  return {
    handle: async (request, response) => {
      ask();
      return (await ready)(request, response);
    },
    run: async (signal) => {
      try {
        await Promise.race([asked, options.clock.sleep(HEAD_START_MS, signal)]);
        const { default: createNext } = await import("next");
        const next = createNext({ dev, dir: directory, hostname: options.host, port: options.port });
        await next.prepare();
        const handle = next.getRequestHandler();
        loaded((request, response) => handle(request, response));
        await aborted(signal);
        await next.close();
      } catch (error) {
        failed(error);
        throw error;
      }
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false; // whatever keeps it from being read keeps the dashboard from being served
  }
}
