import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../clock.ts";
import { type Recorder, recordCpu, recordHeap, recordTrace } from "./profilers.ts";
import { redactArguments } from "./redact-arguments.ts";
import { type Answer, problem, text } from "./respond.ts";

/** Below this prefix, every path is answered here. */
export const PPROF_PREFIX = "/debug/pprof/";

interface Recording {
  readonly name: string;
  readonly record: Recorder;
  readonly defaultSeconds: number;
  readonly summary: string;
}

const RECORDINGS: readonly Recording[] = [
  { name: "profile", record: recordCpu, defaultSeconds: 30, summary: "CPU time by function (pprof)" },
  {
    name: "heap",
    record: recordHeap,
    defaultSeconds: 10,
    summary: "memory allocated meanwhile and still used (pprof)",
  },
  { name: "trace", record: recordTrace, defaultSeconds: 5, summary: "calls over time (.cpuprofile)" },
];
const MAX_SECONDS = 60;

/** Answers `/debug/pprof/…`, with Go's paths so that `go tool pprof http://…/debug/pprof/profile` works. */
export type PprofRoutes = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<Answer>;

/** One recording at a time a process: V8's profilers are global, and two would measure each other. */
export function createPprofRoutes({ clock, argv }: { clock: Clock; argv: readonly string[] }): PprofRoutes {
  let recording: string | undefined;

  const record = async (what: Recording, url: URL, response: ServerResponse): Promise<Answer> => {
    const seconds = readSeconds(url, what.defaultSeconds);
    if (seconds === undefined) {
      const found = url.searchParams.get("seconds");
      return problem(400, `seconds is ${JSON.stringify(found)}: expected a whole number from 1 to ${MAX_SECONDS}`);
    }
    if (recording !== undefined) {
      return problem(409, `a recording of "${recording}" is in progress: only one at a time, try again when it ends`);
    }
    recording = what.name;
    const gone = new AbortController();
    const onClose = () => gone.abort(new Error("the client went away"));
    response.once("close", onClose);
    try {
      const done = await what.record({ durationMs: seconds * 1000, clock, signal: gone.signal });
      const disposition = `attachment; filename="${done.filename}"`;
      return {
        status: 200,
        body: done.body,
        headers: { "content-type": done.contentType, "content-disposition": disposition },
      };
    } finally {
      response.off("close", onClose);
      recording = undefined;
    }
  };

  return async (request, response, url) => {
    const name = url.pathname.slice(PPROF_PREFIX.length);
    const what = RECORDINGS.find((candidate) => candidate.name === name);
    if (what !== undefined) return request.method === "HEAD" ? text(200, "") : await record(what, url, response);
    switch (name) {
      case "":
        return text(200, index());
      case "cmdline":
        return text(200, redactArguments(argv).join("\0"));
      case "symbol":
        // Our profiles carry their functions' names, so there is nothing to look up: zero symbols, in Go's words.
        return text(200, "num_symbols: 0\n");
      default:
        return problem(404, `no such profile: ${JSON.stringify(name)}. ${PPROF_PREFIX} lists them`);
    }
  };
}

function readSeconds(url: URL, defaultSeconds: number): number | undefined {
  const found = url.searchParams.get("seconds");
  if (found === null) return defaultSeconds;
  const seconds = /^\d{1,3}$/.test(found) ? Number(found) : 0;
  return seconds >= 1 && seconds <= MAX_SECONDS ? seconds : undefined;
}

function index(): string {
  const recordings = RECORDINGS.map(
    ({ name, summary, defaultSeconds }) => `${name}?seconds=${defaultSeconds}  ${summary}, 1 to ${MAX_SECONDS} seconds`,
  );
  return ["cmdline  the command line", ...recordings, "symbol  none: profiles carry their symbols", ""].join("\n");
}
