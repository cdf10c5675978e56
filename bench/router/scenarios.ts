import { BURST_EVENTS, chatBody, requestBytes } from "./bodies.ts";
import type { Child } from "./child.ts";
import { closedLoop } from "./closed-loop.ts";
import { PacedClient } from "./paced-streams.ts";
import type { Peer } from "./peers.ts";

/** Numbers of one run of one scenario through one peer, by name. */
export type Numbers = Readonly<Record<string, number>>;

export interface Scenario {
  readonly name: string;
  readonly about: string;
  run(peer: Peer, durationMs: number): Promise<Numbers>;
}

const CONNECTIONS = 32;
/** Node compiles what it runs often: the first seconds are another program. */
const WARM_UP_MS = 1_500;
const KIB = 1_024;

interface Throughput {
  readonly name: string;
  readonly about: string;
  readonly body: Buffer;
  /** What is counted, per request. */
  readonly units: number;
}

const throughput = ({ name, about, body, units: perRequest }: Throughput): Scenario => ({
  name,
  about,
  run: async (peer, durationMs) => {
    const options = {
      port: peer.child.port,
      request: requestBytes(peer.path, body, peer.headers),
      connections: CONNECTIONS,
    };
    await closedLoop({ ...options, durationMs: WARM_UP_MS });
    const cpuMs = peer.child.cpuMs;
    const done = await closedLoop({ ...options, durationMs });
    const units = done.requests * perRequest;
    return {
      "per second": units / done.seconds,
      "CPU µs each": ((peer.child.cpuMs - cpuMs) * 1_000) / Math.max(1, units),
      "p50 ms": percentile(done.latenciesMs, 0.5),
      "p99 ms": percentile(done.latenciesMs, 0.99),
      failures: done.failures,
    };
  },
});

export const throughputScenarios: readonly Scenario[] = [
  {
    name: "small JSON",
    about: "requests; 150 bytes in, 350 out, 32 connections",
    body: chatBody("json", 150),
    units: 1,
  },
  {
    name: "64 KiB prompt",
    about: "requests; 64 KiB in, 350 bytes out, 32 connections",
    body: chatBody("json", 64 * KIB),
    units: 1,
  },
  {
    name: "SSE, unpaced",
    about: `events; ${BURST_EVENTS} an answer, as fast as they are taken, 32 connections`,
    body: chatBody("burst", 150),
    units: BURST_EVENTS,
  },
].map(throughput);

/** Streams with ten events a second each: how much later an event arrives. */
export const pacedStreams = (streams: number): Scenario => ({
  name: `${streams} paced streams`,
  about: "10 events per second each, from the engine's write to the client's read",
  run: async (peer, durationMs) => {
    const client = pacedClient(peer);
    await client.open(streams);
    const cpuMs = peer.child.cpuMs;
    const measured = await client.measure(durationMs);
    const events = measured.latenciesMs.length;
    client.close();
    return {
      "p50 ms": percentile(measured.latenciesMs, 0.5),
      "p99 ms": percentile(measured.latenciesMs, 0.99),
      "CPU µs each": ((peer.child.cpuMs - cpuMs) * 1_000) / Math.max(1, events),
      "events per second": (events * 1_000) / durationMs,
      failures: measured.broken,
    };
  },
});

export const memoryPerStream = (streams: number): Scenario => ({
  name: `memory of ${streams} streams`,
  about: "growth of resident memory per open stream",
  run: async (peer, durationMs) => {
    const client = pacedClient(peer, "quiet");
    const before = peer.child.rssBytes;
    await client.open(streams);
    const measured = await client.measure(durationMs);
    const grown = peer.child.rssBytes - before;
    client.close();
    return {
      "KiB per stream": grown / KIB / streams,
      "RSS MiB": (before + grown) / KIB / KIB,
      failures: measured.broken,
    };
  },
});

/** One stream, and large uploads beside it. */
export const besideUploads: Scenario = {
  name: "8 × 20 MiB beside a stream",
  about: "largest gap between two events of a stream that has one each 100 ms",
  run: async (peer, durationMs) => {
    const client = pacedClient(peer);
    await client.open(4);
    const request = requestBytes(peer.path, chatBody("json", 20 * KIB * KIB), peer.headers);
    const measuring = client.measure(durationMs);
    const done = await closedLoop({ port: peer.child.port, request, connections: 8, durationMs: durationMs * 0.8 });
    const measured = await measuring;
    client.close();
    return {
      "largest gap ms": measured.largestGapMs,
      uploads: done.requests,
      failures: done.failures + measured.broken,
    };
  },
};

function pacedClient(peer: Peer, kind: "paced" | "quiet" = "paced"): PacedClient {
  return new PacedClient({
    port: peer.child.port,
    request: requestBytes(peer.path, chatBody(kind, 150), peer.headers),
  });
}

/** The engine itself as a peer: what is not the peers' own. */
export function direct(engine: Child): Peer {
  return { name: "no relay", child: engine, path: "/v1/chat/completions", headers: {} };
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
