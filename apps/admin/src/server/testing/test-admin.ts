import { createServer } from "node:http";
import type { Role } from "@llmgw/api";
import { createLlmgwClient, type LlmgwClient } from "@llmgw/api";
import {
  createDiagnosticsHandler,
  createLogger,
  listen,
  newSecret,
  runGroup,
  sha256Hex,
  systemClock,
} from "@llmgw/service";
import { type Admin, createAdmin } from "../admin.ts";
import { type AdminSettings, adminSettings } from "../control/settings.ts";
import { signInWithLink } from "../control/use-cases/access.ts";
import { findNodeCredential, findSession, findToken } from "../db/access-store.ts";
import { createPrisma } from "../db/client.ts";
import { ensureCluster } from "../db/cluster-row.ts";
import { Credentials } from "../http/credentials.ts";
import { createListener } from "../http/listener.ts";
import { reply } from "../http/respond.ts";

const log = createLogger({ name: "test", level: "silent" });

/** A whole admin in this process, its dashboard replaced by one page, on a database of the test's own. */
export interface TestAdmin extends AsyncDisposable {
  readonly url: string;
  readonly admin: Admin;
  readonly tokens: Readonly<Record<"admin" | "operator" | "viewer" | "join" | "router", string>>;
  readonly client: LlmgwClient;
  /** A client with another credential. */
  clientOf(token: string): LlmgwClient;
}

export async function startTestAdmin(options: {
  readonly databaseUrl: string;
  /** Factor on every duration of the control plane. */
  readonly timeScale?: number;
  readonly settings?: Partial<AdminSettings>;
}): Promise<TestAdmin> {
  const { databaseUrl, timeScale = 0.05 } = options;
  const database = createPrisma({ databaseUrl, poolSize: 6, log });
  const scaled = adminSettings(timeScale);
  const settings = {
    ...scaled,
    // Polls are held longer here than a scaled silence may last.
    control: { ...scaled.control, suspectAfterMs: 5_000, lostAfterMs: 15_000 },
    // On a loaded machine a scaled lease would run out between two renewals.
    ...{ leaseMs: 6_000, leaseRenewMs: 2_000, holdMs: 2_000, holdWhileWatchedMs: 250 },
    ...options.settings,
  };
  const cluster = await ensureCluster(database);
  const admin = await createAdmin({
    database,
    databaseDirectUrl: databaseUrl,
    cluster,
    settings,
    build: { version: "0.0.0", commit: "unknown" },
    routerUrl: null,
    auditKeepMs: null,
    clock: systemClock,
    log,
  });
  const tokens = await createTokens(database);
  const stopping = new AbortController();
  const server = createServer(
    createListener({
      control: admin.control,
      credentials: new Credentials({
        source: {
          token: (sha256) => findToken(database, sha256),
          node: (sha256) => findNodeCredential(database, sha256),
          session: (sha256) => findSession(database, sha256),
        },
        rememberMs: settings.credentialCacheMs,
        clock: systemClock,
      }),
      signIn: {
        exchange: (token, from) => signInWithLink({ database, settings }, token, from),
        sessionMs: settings.sessionMs,
        log,
      },
      diagnostics: createDiagnosticsHandler({
        registry: admin.metrics.registry,
        health: () => ({ status: "ok" }),
        version: "0.0.0",
      }),
      pages: async (_request, response) => reply(response, { status: 200, body: "page", contentType: "text/plain" }),
      allowedHosts: new Set(),
      stopping: stopping.signal,
      dev: false,
      log,
    }),
  );
  const { url } = await listen(server, { host: "127.0.0.1", port: 0 }, "TEST");
  const untilStopped = new Promise<void>((resolve) => stopping.signal.addEventListener("abort", () => resolve()));
  const running = runGroup({
    parts: [...admin.parts, { name: "test", run: () => untilStopped }],
    log,
    shutdownDeadlineMs: 10_000,
    signals: false,
  });
  const clientOf = (token: string) => createLlmgwClient({ url, token });
  return {
    url,
    admin,
    tokens,
    clientOf,
    client: clientOf(tokens.admin),
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new Error("the test is over"));
      await running;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await database.$disconnect();
    },
  };
}

async function createTokens(database: ReturnType<typeof createPrisma>): Promise<TestAdmin["tokens"]> {
  const make = async (kind: string, role: Role | null) => {
    const secret = newSecret("llmgw_test_");
    const name = role ?? kind;
    const row = { id: newSecret("token_"), kind, name, prefix: secret.slice(0, 12), sha256: sha256Hex(secret), role };
    await database.accessToken.create({ data: row });
    return secret;
  };
  return {
    admin: await make("operator", "admin"),
    operator: await make("operator", "operator"),
    viewer: await make("operator", "viewer"),
    join: await make("join", null),
    router: await make("router", null),
  };
}
