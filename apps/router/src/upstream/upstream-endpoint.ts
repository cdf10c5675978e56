import { type EndpointFacts, RoutedEndpoint } from "@llmgw/domain";
import { type MetricsReader, metricsReaders } from "@llmgw/engines";
import type { EndpointEntry } from "@llmgw/wire";
import { Pool } from "undici";
import type { RouterSettings } from "../registry/settings.ts";

/**
 * Idle engine sockets are dropped by us before the engine drops them (vLLM's server closes after 5 s): the other way round
 * a request now and then meets a socket that is being closed.
 */
const KEEP_ALIVE_MS = 4_000;

/** Our own connect limit ends an attempt on time; this one, which undici keeps less exactly, clears up behind it. */
const CONNECT_SLACK_MS = 1_000;

export type ProbeState = "ok" | "failed" | "unknown";

/** One engine with its sockets: what is known of it (its base class), where it is, and what the last probe said. */
export class UpstreamEndpoint extends RoutedEndpoint {
  readonly #pool: Pool;
  readonly origin: string;
  /** Path in front of the API's own, without a slash at its end; usually empty. */
  readonly basePath: string;
  #entry: EndpointEntry;
  #freshSocket = false;
  probe: ProbeState = "unknown";
  /** Why the last probe failed, in a few words; null when it did not. */
  probeProblem: string | null = null;

  constructor(entry: EndpointEntry, settings: RouterSettings) {
    super(factsOf(entry), routingSettings(settings));
    this.#entry = entry;
    const url = new URL(entry.url);
    this.origin = url.origin;
    this.basePath = url.pathname.replace(/\/+$/, "");
    this.#pool = new Pool(url.origin, {
      pipelining: 1,
      headersTimeout: 0, // the limits are ours, per model
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: { timeout: settings.timeouts.connectMs + CONNECT_SLACK_MS },
    });
    this.#pool.on("connect", () => {
      this.#freshSocket = true;
    });
  }

  get entry(): EndpointEntry {
    return this.#entry;
  }

  get pool(): Pool {
    return this.#pool;
  }

  /** How to read its counts; undefined for an engine that has none to scrape. */
  get metricsReader(): MetricsReader | undefined {
    return metricsReaders.get(this.#entry.engine);
  }

  get metricsUrl(): string {
    return this.#entry.metricsUrl ?? `${this.origin}${this.basePath}/metrics`;
  }

  /**
   * To be asked when a request has just been given its socket: true if an earlier request used that socket. A new socket's
   * first request starts in the same turn as its `connect` event.
   */
  tookReusedSocket(): boolean {
    const isReused = !this.#freshSocket;
    this.#freshSocket = false;
    return isReused;
  }

  /** Takes over what a new table says; sockets, counts and breaker stay. */
  update(entry: EndpointEntry, settings: RouterSettings): void {
    this.#entry = entry;
    this.configure(factsOf(entry), routingSettings(settings));
  }

  /** Closes the sockets once the requests on them have ended. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  async destroy(): Promise<void> {
    await this.#pool.destroy();
  }
}

/** Two entries with the same key are the same endpoint; any other is a new one with a clean sheet. */
export function endpointKey({ replica, generation, url, engine }: EndpointEntry): string {
  return `${replica} ${generation} ${engine} ${url}`;
}

function factsOf(entry: EndpointEntry): EndpointFacts {
  const { replica, state, maxInflight, maxConcurrent, engine } = entry;
  // An engine with nothing to scrape has no stale numbers.
  return { name: replica, state, maxInflight, maxConcurrent, hasMetrics: metricsReaders.has(engine) };
}

function routingSettings({ breaker, saturation, scrape, slowStartMs }: RouterSettings) {
  return { breaker, saturation, staleAfterMs: scrape.staleAfterMs, slowStartMs };
}
