import { createHash } from "node:crypto";
import { afterEach, expect } from "vitest";
import { type EngineScript, FakeEngine, jsonAnswer } from "./fake-engine.ts";
import type { PostOptions, RawAnswer, RawClient } from "./raw-client.ts";
import { TestRouter } from "./test-router.ts";

export const plainBody = '{"model":"m1","messages":[{"role":"user","content":"hi"}]}';
export const streamBody = '{"model":"m1","messages":[{"role":"user","content":"hi"}],"stream":true}';
export const okAnswer = jsonAnswer('{"id":"x","choices":[]}');

/** Answers every request well and at once. */
export const answering: EngineScript = ({ socket }) => {
  socket.write(okAnswer);
};

export interface Kit {
  engine(script: EngineScript, models?: readonly string[]): Promise<FakeEngine>;
  router(document: unknown): Promise<TestRouter>;
  client(target: TestRouter): Promise<RawClient>;
  /** One request on a connection of its own. */
  ask(target: TestRouter, body: string | Buffer, options?: PostOptions): Promise<RawAnswer>;
}

/**
 * Engines, routers and clients that end with each test of the calling file. After each, whatever it did, everything that
 * was taken must have been given back: in-flight counts, queue places, memory for bodies.
 */
export function useKit(): Kit {
  const engines: FakeEngine[] = [];
  const routers: TestRouter[] = [];
  const clients: RawClient[] = [];

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    const held = routers.map(({ bodyMemory, registry }) => ({ bodyMemory, registry }));
    await Promise.all(routers.splice(0).map((router) => router.stop()));
    await Promise.all(engines.splice(0).map((engine) => engine.stop()));
    for (const { bodyMemory, registry } of held) {
      expect(bodyMemory.held).toBe(0);
      expect(registry.endpoints.filter(({ inflight }) => inflight !== 0)).toEqual([]);
      expect(registry.models.filter(({ queued }) => queued !== 0)).toEqual([]);
    }
  });

  const client = async (target: TestRouter) => {
    const opened = await target.client();
    clients.push(opened);
    return opened;
  };
  return {
    engine: async (script, models) => {
      const started = await FakeEngine.start(script, models);
      engines.push(started);
      return started;
    },
    router: async (document) => {
      const started = await TestRouter.start(document);
      routers.push(started);
      return started;
    },
    client,
    ask: async (target, body, options = {}) => {
      const asking = await client(target);
      asking.post(body, options);
      return await asking.answer();
    },
  };
}

/** A router.yaml document of one model `m1` on these engines, `r1`, `r2` …, with one key for it, `sk-one`. */
export function documentOf(
  list: readonly (FakeEngine | string)[],
  extra: object = {},
  endpointExtra: readonly object[] = [],
) {
  return {
    keys: [{ id: "one", secret: "sk-one", models: ["m1"] }],
    models: [
      {
        id: "m1",
        aliases: ["gpt-4o-mini"],
        endpoints: list.map((item, index) => ({
          id: `r${index + 1}`,
          url: typeof item === "string" ? item : item.url,
          engine: "vllm",
          ...endpointExtra[index],
        })),
      },
    ],
    ...extra,
  };
}

export function errorOf(body: Buffer): { code: string; param: string | null; message: string; type: string } {
  return JSON.parse(body.toString()).error;
}

export const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex");
