import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { createLogger, systemClock } from "@llmgw/service";
import { expect, test } from "vitest";
import { Registry } from "../registry/registry.ts";
import { defaultRouterSettings } from "../registry/settings.ts";
import { authenticate } from "./authenticate.ts";

test("a router that has no table yet says so: it does not call a key unknown", () => {
  const log = createLogger({ name: "test", level: "silent" });
  const registry = new Registry({ settings: defaultRouterSettings, clock: systemClock, random: Math.random, log });
  const request = new IncomingMessage(new Socket());
  request.rawHeaders = ["Authorization", "Bearer sk-good"];
  expect(authenticate(request, registry, 0)).toMatchObject({
    kind: "refused",
    error: { status: 503, code: "no_endpoint", retryAfterSeconds: 5 },
  });
});
