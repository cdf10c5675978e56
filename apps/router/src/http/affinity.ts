import type { IncomingHttpHeaders } from "node:http";
import { type AffinityKeys, type ByteSpan, prefixKeys, sessionKeys } from "@llmgw/domain";
import type { ModelRoute } from "../registry/model-route.ts";

/** By which clients may name a session, where the body does not. */
const SESSION_HEADER = "x-session-id";

const none: AffinityKeys = [];

export interface AffinitySource {
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Uint8Array;
  readonly prompt: ByteSpan | null;
  readonly session: ByteSpan | null;
}

/** What ties a request to earlier ones under its model's policy; nothing under a policy that does not look at it. */
export function affinityOf(route: ModelRoute, { headers, bytes, prompt, session }: AffinitySource): AffinityKeys {
  const { policy } = route.entry;
  if (policy === "prefix") return prompt === null ? none : prefixKeys(bytes, prompt);
  if (policy !== "session") return none;
  const named = headers[SESSION_HEADER];
  if (typeof named === "string" && named !== "") return sessionKeys(Buffer.from(named));
  return session === null ? none : sessionKeys(bytes.subarray(session.start, session.end));
}
