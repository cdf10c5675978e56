import type { Clock } from "../clock.ts";

/** A finished measurement, ready to send. */
interface Recording {
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly filename: string;
}

interface RecordingOptions {
  readonly durationMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export type Recorder = (options: RecordingOptions) => Promise<Recording>;

const PPROF_TYPE = "application/octet-stream";
/** The default of Go's heap profiler (runtime.MemProfileRate): one sample each 512 KiB allocated. */
const HEAP_SAMPLE_BYTES = 512 * 1024;
const HEAP_STACK_DEPTH = 64;

/** CPU time by function as a gzipped pprof profile, sampled each millisecond for `durationMs`. */
export const recordCpu: Recorder = async ({ durationMs, clock, signal }) => {
  const { time, encode } = await loadPprof();
  time.start({ intervalMicros: 1000, durationMillis: durationMs });
  try {
    await clock.sleep(durationMs, signal);
  } catch (error) {
    time.stop();
    throw error;
  }
  return { body: await encode(time.stop()), contentType: PPROF_TYPE, filename: "profile.pb.gz" };
};

/** Memory allocated within `durationMs` and still in use at its end, by function, as a gzipped pprof profile. */
export const recordHeap: Recorder = async ({ durationMs, clock, signal }) => {
  const { heap, encode } = await loadPprof();
  heap.start(HEAP_SAMPLE_BYTES, HEAP_STACK_DEPTH);
  try {
    await clock.sleep(durationMs, signal);
    return { body: await encode(heap.profile()), contentType: PPROF_TYPE, filename: "heap.pb.gz" };
  } finally {
    heap.stop();
  }
};

/** Calls over time as V8's own `.cpuprofile` (JSON), which Chrome's and VS Code's profile viewers open. */
export const recordTrace: Recorder = async ({ durationMs, clock, signal }) => {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await clock.sleep(durationMs, signal);
    const { profile } = await session.post("Profiler.stop");
    return {
      body: Buffer.from(JSON.stringify(profile)),
      contentType: "application/json",
      filename: "trace.cpuprofile",
    };
  } finally {
    session.disconnect();
  }
};

/** Loads the native profiler only when a profile is asked for: it costs memory and start time no program should pay. */
async function loadPprof() {
  const { time, heap, encode } = await import("@datadog/pprof");
  return { time, heap, encode };
}
