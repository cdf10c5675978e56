import type { Clock, Logger } from "@llmgw/service";
import pg from "pg";
import { connectionOptions } from "./address.ts";
import { reportChannel, versionChannel } from "./channels.ts";

const RETRY_MS = 1_000;

/**
 * The one connection of this admin past Prisma: it hears of changes that other admins (or this one) committed. It only
 * speeds things up, so a break is logged and mended, and nothing depends on it.
 */
export async function listenForChanges(
  options: {
    readonly databaseUrl: string;
    readonly onVersion: () => void;
    readonly onReport: () => void;
    readonly clock: Clock;
    readonly log: Logger;
  },
  signal: AbortSignal,
): Promise<void> {
  const { databaseUrl, onVersion, onReport, clock, log } = options;
  while (!signal.aborted) {
    const client = new pg.Client(connectionOptions(databaseUrl));
    const ended = new Promise<unknown>((resolve) => {
      client.on("error", resolve);
      client.on("end", () => resolve(new Error("the database closed the listening connection")));
      signal.addEventListener("abort", () => resolve(null), { once: true });
    });
    client.on("notification", ({ channel }) => (channel === versionChannel ? onVersion() : onReport()));
    try {
      await client.connect();
      await client.query(`LISTEN ${versionChannel}; LISTEN ${reportChannel}`);
      onVersion();
      const error = await ended;
      if (!signal.aborted) log.warn({ error }, "the listening connection broke; changes arrive later meanwhile");
    } catch (error) {
      if (!signal.aborted) log.debug({ error }, "cannot listen for changes; trying again");
    } finally {
      await endQuietly(client, log);
    }
    if (!signal.aborted) await clock.sleep(RETRY_MS, signal).catch(() => undefined); // the loop's head looks at the signal
  }
}

async function endQuietly(client: pg.Client, log: Logger): Promise<void> {
  try {
    await client.end();
  } catch (error) {
    log.debug({ error }, "the listening connection did not close well");
  }
}
