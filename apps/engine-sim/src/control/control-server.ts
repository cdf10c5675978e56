import type { Server } from "node:http";
import { z } from "zod";
import type { SimClock } from "../core/clock.ts";
import type { LatencySettings } from "../core/latency.ts";
import { type Fault, formatFault, parseFault } from "../faults/fault.ts";
import type { FaultState } from "../faults/fault-state.ts";
import { createHttpServer, type HttpExchange, httpRoutes, sendJson } from "../http/http-server.ts";

/** What can be changed while the engine runs. */
export interface Controls {
  readonly clock: SimClock;
  readonly faults: FaultState;
  latency(): LatencySettings;
  setLatency(latency: LatencySettings): void;
  /** Called after the clock factor has changed. */
  clockChanged(): void;
  crash(how: { readonly code: number } | { readonly signal: NodeJS.Signals }): void;
}

const configSchema = z.strictObject({
  faults: z.array(z.string()).optional(),
  ttftMs: z.number().min(0).optional(),
  prefillMsPerToken: z.number().min(0).optional(),
  itlMs: z.number().min(0).optional(),
  jitter: z.number().min(0).max(0.3).optional(),
  loadFactor: z.number().min(1).optional(),
  clockFactor: z.number().positive().optional(),
});

const crashSchema = z.union([
  z.strictObject({ signal: z.enum(["SIGKILL", "SIGSEGV", "SIGABRT"]) }),
  z.strictObject({ code: z.int().min(0).max(255).default(1) }),
]);

/**
 * The simulator's own port, to be bound to loopback only: `GET /sim/config` shows latencies and faults, `POST
 * /sim/config` changes those it names (`faults` replaces the whole list), `POST /sim/crash` ends the process.
 */
export function createControlServer(controls: Controls): Server {
  const show = ({ response }: HttpExchange) => sendJson(response, 200, describe(controls));

  const change = (exchange: HttpExchange) => {
    const parsed = configSchema.safeParse(readJson(exchange.body));
    if (!parsed.success) {
      sendJson(exchange.response, 400, { error: z.prettifyError(parsed.error) });
      return;
    }
    const { faults, clockFactor, ...latency } = parsed.data;
    const next: Fault[] = [];
    for (const text of faults ?? []) {
      const fault = parseFault(text);
      if (fault.kind === "invalid") {
        sendJson(exchange.response, 400, { error: fault.message });
        return;
      }
      next.push(fault.fault);
    }
    controls.setLatency({ ...controls.latency(), ...withoutUndefined(latency) });
    if (faults !== undefined) {
      controls.faults.set(next);
    }
    if (clockFactor !== undefined) {
      controls.clock.setFactor(clockFactor);
      controls.clockChanged();
    }
    show(exchange);
  };

  const crash = (exchange: HttpExchange) => {
    const parsed = crashSchema.safeParse(exchange.body.length === 0 ? {} : readJson(exchange.body));
    if (!parsed.success) {
      sendJson(exchange.response, 400, { error: z.prettifyError(parsed.error) });
      return;
    }
    exchange.response.once("finish", () => controls.crash(parsed.data));
    sendJson(exchange.response, 202, { crashing: parsed.data });
  };

  const routes = httpRoutes([
    ["GET", "/sim/config", show],
    ["POST", "/sim/config", change],
    ["POST", "/sim/crash", crash],
  ]);
  return createHttpServer(routes, {
    admit: () => true,
    notFound: ({ response, path }) =>
      sendJson(response, 404, { error: `no ${path} here; there are /sim/config and /sim/crash` }),
    methodNotAllowed: ({ response }, allow) => sendJson(response, 405, { error: `use ${allow}` }),
    failed: ({ response }, error) => sendJson(response, 500, { error: String(error) }),
  });
}

function describe(controls: Controls) {
  return {
    faults: controls.faults.all().map(formatFault),
    ...controls.latency(),
    clockFactor: controls.clock.factor(),
  };
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function withoutUndefined(latency: { [K in keyof LatencySettings]?: number | undefined }): Partial<LatencySettings> {
  return Object.fromEntries(Object.entries(latency).filter(([, value]) => value !== undefined));
}
