import type { IncomingMessage } from "node:http";
import type { Permission } from "@llmgw/api";
import type { Actor } from "@llmgw/api/server";
import { type Clock, sha256Hex } from "@llmgw/service";
import type { Identity } from "../db/access-store.ts";

export const sessionCookie = "llmgw_session";
/** The same over TLS: browsers take a `__Host-` cookie only with Secure, Path=/ and no Domain. */
export const secureSessionCookie = `__Host-${sessionCookie}`;

/** Looks secrets up by their hash. */
export interface IdentitySource {
  token(sha256: string): Promise<Identity | null>;
  node(sha256: string): Promise<Identity | null>;
  session(sha256: string): Promise<Identity | null>;
}

export interface Caller {
  readonly actor: Actor;
  /** The credential came from a cookie, which browsers send on their own. */
  readonly byCookie: boolean;
}

interface Remembered {
  readonly identity: Identity | null;
  readonly atMs: number;
}

/** Remembered answers at most: random guesses must not fill the memory. */
const REMEMBERED_AT_MOST = 20_000;

/** Finds out who sends a request. Answers are remembered for a moment, so that a revocation counts almost at once. */
export class Credentials {
  readonly #source: IdentitySource;
  readonly #clock: Clock;
  readonly #rememberMs: number;
  readonly #remembered = new Map<string, Remembered>();

  constructor(options: { readonly source: IdentitySource; readonly rememberMs: number; readonly clock: Clock }) {
    this.#source = options.source;
    this.#rememberMs = options.rememberMs;
    this.#clock = options.clock;
  }

  /** @throws what the database throws when it is away and the credential is not that of a machine known from before. */
  async caller(request: IncomingMessage, requestId: string): Promise<Caller> {
    const sourceAddress = request.socket.remoteAddress ?? "";
    const [scheme, token] = (request.headers.authorization ?? "").split(" ", 2);
    const bearer = scheme?.toLowerCase() === "bearer" && token !== undefined && token !== "" ? token : null;
    const cookie = bearer === null ? sessionOf(request) : null;
    const identity = await this.#identity(bearer, cookie);
    return { actor: toActor(identity, { sourceAddress, requestId }), byCookie: bearer === null && cookie !== null };
  }

  async #identity(bearer: string | null, cookie: string | null): Promise<Identity | null> {
    if (bearer !== null) {
      const isNode = bearer.startsWith("llmgw_node_");
      return this.#lookUp(sha256Hex(bearer), isNode ? this.#source.node : this.#source.token);
    }
    return cookie === null ? null : this.#lookUp(sha256Hex(cookie), this.#source.session);
  }

  async #lookUp(sha256: string, find: (sha256: string) => Promise<Identity | null>): Promise<Identity | null> {
    const known = this.#remembered.get(sha256);
    const nowMs = this.#clock.monotonicMs();
    if (known !== undefined && nowMs - known.atMs < this.#rememberMs) return known.identity;
    try {
      const identity = await find(sha256);
      this.#remembered.delete(sha256);
      this.#remembered.set(sha256, { identity, atMs: nowMs });
      for (const oldest of this.#remembered.keys()) {
        if (this.#remembered.size <= REMEMBERED_AT_MOST) break;
        this.#remembered.delete(oldest);
      }
      return identity;
    } catch (error) {
      // With the database away machines go on with what they have: they may still be told that nothing changed.
      if (known?.identity?.kind === "node" || known?.identity?.kind === "router") return known.identity;
      throw error;
    }
  }
}

function toActor(identity: Identity | null, from: { sourceAddress: string; requestId: string }): Actor {
  if (identity === null) return { kind: "anonymous", id: "", name: "anonymous", permission: null, ...from };
  const { id, name } = identity;
  return { kind: actorKinds[identity.kind], id, name, permission: permissionOf(identity), ...from };
}

const actorKinds = { token: "token", session: "user", join: "token", router: "router", node: "node" } as const;

function permissionOf(identity: Identity): Permission {
  switch (identity.kind) {
    case "token":
    case "session":
      return identity.role;
    case "join":
      return "join";
    case "router":
      return "router";
    case "node":
      return "agent";
  }
}

function sessionOf({ headers }: IncomingMessage): string | null {
  for (const part of (headers.cookie ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if ((name === sessionCookie || name === secureSessionCookie) && value !== undefined && value !== "") return value;
  }
  return null;
}
