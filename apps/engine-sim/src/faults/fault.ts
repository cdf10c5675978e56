/** A failure that an engine can be told to show, by `--sim-fail`, `LLMGW_SIM_FAIL` or the control port. */
export type Fault =
  | { readonly kind: "crash-at-start"; readonly code: number; readonly cause: CrashCause }
  | { readonly kind: "crash-after-requests"; readonly requests: number }
  | { readonly kind: "crash-mid-stream"; readonly tokens: number }
  | { readonly kind: "reset-mid-stream"; readonly tokens: number }
  | { readonly kind: "hang" }
  | { readonly kind: "half-events" }
  | { readonly kind: "utf8-splits" }
  | { readonly kind: "close-delimited" }
  | { readonly kind: "double-fork" }
  | { readonly kind: "slow-load"; readonly factor: number }
  | { readonly kind: "stall-load" }
  | { readonly kind: "ignore-sigterm"; readonly forMs: number }
  | { readonly kind: "status"; readonly status: number; readonly every: number }
  | { readonly kind: "slow-health"; readonly delayMs: number }
  | { readonly kind: "health-status"; readonly status: number }
  | { readonly kind: "metrics"; readonly shape: MetricsShape };

const CRASH_CAUSES = ["gpu-oom", "host-oom", "gpu-lost", "model-not-found", "gpu-memory-busy"] as const;
export type CrashCause = (typeof CRASH_CAUSES)[number];

const METRICS_SHAPES = ["absent", "empty", "renamed", "corrupt"] as const;
export type MetricsShape = (typeof METRICS_SHAPES)[number];

/** How each fault is written and what it does, for `--help`. */
export const FAULT_HELP: readonly (readonly [string, string])[] = [
  [`crash-at-start[:CODE[:CAUSE]]`, `exit while loading; CAUSE is one of ${CRASH_CAUSES.join(", ")}`],
  ["crash-after-requests:N", "exit when N generation requests have ended"],
  ["crash-mid-stream:N", "exit when a stream has sent N tokens"],
  ["reset-mid-stream:N", "reset each stream's connection after N tokens; the engine lives on"],
  ["hang", "health stays 200, but no request gets another byte"],
  ["half-events", "each event of a stream arrives in two pieces"],
  ["utf8-splits", "tokens hold characters of several bytes, and pieces end in the middle of one"],
  ["close-delimited", "streams have no chunks and no length: they end with their connection"],
  ["double-fork", "a child in a session of its own, which ignores SIGTERM, holds the memory too (at start only)"],
  ["slow-load:N[x]", "loading takes N times as long"],
  ["stall-load", "loading stops at half of the checkpoint"],
  ["ignore-sigterm[:MS]", "SIGTERM has no effect, or only MS milliseconds later"],
  ["status:CODE[:every:N]", "every Nth generation request is answered with that status"],
  ["slow-health:MS", "/health answers MS milliseconds late"],
  ["health-status:CODE", "/health answers with that status"],
  [`metrics:SHAPE`, `/metrics is ${METRICS_SHAPES.join(", ")}`],
];

export type FaultParse =
  | { readonly kind: "fault"; readonly fault: Fault }
  | { readonly kind: "invalid"; readonly message: string };

/** Reads one fault as written on the command line, for example `status:503:every:5`. */
export function parseFault(text: string): FaultParse {
  const [name = "", ...args] = text.split(":");
  const fault = build(name, args);
  return fault === undefined ? { kind: "invalid", message: invalid(text) } : { kind: "fault", fault };
}

/** Writes a fault the way `parseFault` reads it. */
export function formatFault(fault: Fault): string {
  switch (fault.kind) {
    case "crash-at-start":
      return `crash-at-start:${fault.code}:${fault.cause}`;
    case "crash-after-requests":
      return `crash-after-requests:${fault.requests}`;
    case "crash-mid-stream":
    case "reset-mid-stream":
      return `${fault.kind}:${fault.tokens}`;
    case "slow-load":
      return `slow-load:${fault.factor}x`;
    case "ignore-sigterm":
      return Number.isFinite(fault.forMs) ? `ignore-sigterm:${fault.forMs}` : "ignore-sigterm";
    case "status":
      return `status:${fault.status}:every:${fault.every}`;
    case "slow-health":
      return `slow-health:${fault.delayMs}`;
    case "health-status":
      return `health-status:${fault.status}`;
    case "metrics":
      return `metrics:${fault.shape}`;
    case "hang":
    case "half-events":
    case "utf8-splits":
    case "close-delimited":
    case "double-fork":
    case "stall-load":
      return fault.kind;
  }
}

function build(name: string, args: readonly string[]): Fault | undefined {
  const [first, second, third] = args;
  switch (name) {
    case "crash-at-start":
      return crashAtStart(args);
    case "crash-after-requests": {
      const requests = positive(first);
      return requests === undefined || args.length > 1 ? undefined : { kind: name, requests };
    }
    case "crash-mid-stream":
    case "reset-mid-stream": {
      const tokens = positive(first);
      return tokens === undefined || args.length > 1 ? undefined : { kind: name, tokens };
    }
    case "hang":
    case "half-events":
    case "utf8-splits":
    case "close-delimited":
    case "double-fork":
    case "stall-load":
      return args.length === 0 ? { kind: name } : undefined;
    case "slow-load": {
      const factor = Number((first ?? "").replace(/x$/, ""));
      return factor >= 1 && args.length === 1 ? { kind: name, factor } : undefined;
    }
    case "ignore-sigterm": {
      const forMs = first === undefined ? Number.POSITIVE_INFINITY : positive(first);
      return forMs === undefined || args.length > 1 ? undefined : { kind: name, forMs };
    }
    case "status": {
      const status = httpStatus(first);
      const every = second === undefined ? 1 : second === "every" && args.length === 3 ? positive(third) : undefined;
      return status === undefined || every === undefined ? undefined : { kind: name, status, every };
    }
    case "slow-health": {
      const delayMs = positive(first);
      return delayMs === undefined || args.length > 1 ? undefined : { kind: name, delayMs };
    }
    case "health-status": {
      const status = httpStatus(first);
      return status === undefined || args.length > 1 ? undefined : { kind: name, status };
    }
    case "metrics": {
      const shape = METRICS_SHAPES.find((known) => known === first);
      return shape === undefined || args.length > 1 ? undefined : { kind: name, shape };
    }
    default:
      return undefined;
  }
}

function crashAtStart(args: readonly string[]): Fault | undefined {
  const code = args[0] === undefined ? 1 : wholeNumber(args[0]);
  const cause = args[1] === undefined ? "gpu-oom" : CRASH_CAUSES.find((known) => known === args[1]);
  if (code === undefined || code > 255 || cause === undefined || args.length > 2) {
    return undefined;
  }
  return { kind: "crash-at-start", code, cause };
}

function wholeNumber(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

function positive(text: string | undefined): number | undefined {
  const value = text === undefined ? undefined : wholeNumber(text);
  return value === 0 ? undefined : value;
}

function httpStatus(text: string | undefined): number | undefined {
  const value = positive(text);
  return value !== undefined && value >= 200 && value <= 599 ? value : undefined;
}

function invalid(text: string): string {
  const known = FAULT_HELP.map(([form]) => form).join(", ");
  return `unknown fault '${text}'; write one of: ${known}`;
}
