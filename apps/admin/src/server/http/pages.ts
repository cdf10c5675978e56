import { access } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "@llmgw/service";
import type { PageHandler } from "./listener.ts";

export interface Pages {
  readonly handle: PageHandler;
  close(): Promise<void>;
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
}): Promise<Pages> {
  const { directory, host, port, dev } = options;
  if (!dev && !(await exists(join(directory, ".next", "BUILD_ID")))) {
    throw new ConfigError([
      `the dashboard is not built (${join(directory, ".next", "BUILD_ID")} is missing): run "npx next build" in ${directory}, or start everything with "npm start"`,
    ]);
  }
  const { default: createNext } = await import("next");
  const next = createNext({ dev, dir: directory, hostname: host, port });
  await next.prepare();
  const handle = next.getRequestHandler();
  return { handle: (request, response) => handle(request, response), close: () => next.close() };
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false; // whatever keeps it from being read keeps the dashboard from being served
  }
}
