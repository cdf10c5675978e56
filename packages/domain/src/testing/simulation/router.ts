import type { EndpointReport } from "../../cluster/router.ts";
import { endpointTable, type TableEndpoint } from "../../reconcile/endpoint-table.ts";
import { engineKey, isReady, type SimEngine, type SimRequest } from "./engine.ts";
import type { World } from "./world.ts";

/** A router: it sends requests by the last table it has, probes what is in it, and says what is in flight. */
export class SimRouter {
  readonly id: string;
  alive = true;
  /** It reaches the control plane. */
  linked = true;
  session = 1;
  #table: readonly TableEndpoint[] = [];
  #appliedVersion = 0;
  #probes = new Map<string, "ok" | "failed">();
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #mine = new Map<SimEngine, SimRequest[]>();
  /** Requests that found no endpoint. */
  unserved = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** Everything it knew and had in flight is gone with the process; its clients see that as the router's death. */
  restart(): void {
    for (const [engine, requests] of this.#mine) {
      engine.requests = engine.requests.filter((request) => !requests.includes(request));
    }
    this.#mine.clear();
    this.#probes.clear();
    this.session += 1;
  }

  tick(world: World): void {
    this.#probes = new Map(
      this.#table.map((endpoint) => {
        const engine = world.engineOf(endpoint);
        return [keyOf(endpoint), engine !== null && isReady(engine, world.nowMs) ? "ok" : "failed"];
      }),
    );
    for (const modelId of world.store.models.keys()) {
      if (world.random.chance(0.5)) this.#send(world, modelId);
    }
  }

  sync(world: World): void {
    this.#heardAtMs = world.nowMs;
    world.store.routers.set(this.id, {
      id: this.id,
      name: this.id,
      session: String(this.session),
      address: "",
      version: "sim",
      lastSeenAtMs: world.nowMs,
      leftAtMs: null,
      appliedVersion: this.#appliedVersion,
      endpoints: this.#table.map((endpoint) => this.#report(world, endpoint)),
    });
    if (world.store.version <= this.#appliedVersion) return;
    this.#table = endpointTable(world.store.snapshot());
    this.#appliedVersion = world.store.version;
  }

  #report(world: World, endpoint: TableEndpoint): EndpointReport {
    const engine = world.engineOf(endpoint);
    const mine = engine === null ? [] : (this.#mine.get(engine) ?? []);
    return {
      replicaId: endpoint.replicaId,
      generation: endpoint.generation,
      inflight: mine.filter((request) => engine?.requests.includes(request)).length,
      probe: this.#probes.get(keyOf(endpoint)) ?? "unknown",
      breaker: this.#probes.get(keyOf(endpoint)) === "failed" ? "open" : "closed",
    };
  }

  #send(world: World, modelId: string): void {
    const usable = this.#table.filter((endpoint) => {
      if (endpoint.modelId !== modelId || endpoint.state === "draining") return false;
      const engine = world.engineOf(endpoint);
      return engine !== null && isReady(engine, world.nowMs);
    });
    const serving = usable.filter((endpoint) => endpoint.state === "serving");
    const choices = serving.length > 0 ? serving : usable;
    if (choices.length === 0) {
      this.unserved += 1;
      return;
    }
    const engine = world.engineOf(world.random.pick(choices));
    if (engine === null) return;
    const isLong = world.random.chance(0.05);
    const durationMs = isLong ? world.random.between(5_000, world.longestRequestMs) : world.random.between(200, 2_000);
    const request = {
      routerId: this.id,
      fromSilentRouter: world.nowMs - this.#heardAtMs > world.store.settings.routerLeaseMs,
      startedAtMs: world.nowMs,
      endsAtMs: world.nowMs + durationMs,
    };
    engine.requests.push(request);
    const mine = (this.#mine.get(engine) ?? []).filter((known) => known.endsAtMs > world.nowMs);
    this.#mine.set(engine, [...mine, request]);
  }
}

function keyOf(endpoint: TableEndpoint): string {
  return engineKey(endpoint.replicaId, endpoint.generation, 0);
}
