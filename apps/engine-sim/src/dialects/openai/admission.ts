import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { HttpExchange } from "../../http/http-server.ts";
import {
  injectedError,
  invalidBody,
  invalidJson,
  modelNotFound,
  type ServeError,
  sendError,
  statusError,
} from "./errors.ts";
import type { ServerState } from "./server-state.ts";

/**
 * The checks before any work: content type, JSON, the body's shape, the model's name. Answers the client itself and
 * returns undefined when one fails.
 */
export function admitBody<T extends { model?: string | null | undefined }>(
  exchange: HttpExchange,
  schema: z.ZodType<T>,
  state: ServerState,
): T | undefined {
  const refuse = (error: ServeError): undefined => {
    sendError(exchange.response, error, state);
    return undefined;
  };
  const contentType = exchange.request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (contentType !== "application/json") {
    return refuse(statusError(415, "Unsupported Media Type: Only 'application/json' is allowed"));
  }
  let json: unknown;
  try {
    json = JSON.parse(exchange.body.toString("utf8"));
  } catch (error) {
    return refuse(invalidJson(error));
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    return refuse(invalidBody(parsed.error));
  }
  const { model } = parsed.data;
  const isKnown = model === undefined || model === null || state.settings.servedNames.includes(model);
  if (!isKnown && state.dialect.checksModelNames) {
    return refuse(modelNotFound(model ?? ""));
  }
  return parsed.data;
}

/** Refuses while the engine stops, and where a `status` fault says so. True: go on. */
export function admitGeneration(exchange: HttpExchange, state: ServerState): boolean {
  if (state.draining) {
    sendError(exchange.response, statusError(503, "The server is shutting down."), state);
    return false;
  }
  state.generationRequests += 1;
  const fault = state.faults.find("status");
  if (fault !== undefined && state.generationRequests % fault.every === 0) {
    sendError(exchange.response, injectedError(fault.status), state);
    return false;
  }
  return true;
}

/** The client's own `X-Request-Id`, else a fresh one, as vLLM takes it. */
export function requestId(exchange: HttpExchange): string {
  const given = exchange.request.headers["x-request-id"];
  return typeof given === "string" && given !== "" ? given : randomUUID().replaceAll("-", "");
}
