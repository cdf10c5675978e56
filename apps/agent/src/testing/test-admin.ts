import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  type AgentSyncAnswer,
  type AgentSyncRequest,
  agentJoinRequest,
  agentSyncRequest,
  type ShardLaunch,
  type ShardStop,
} from "@llmgw/wire";
import type { z } from "zod";

interface Waiting {
  readonly request: AgentSyncRequest;
  readonly response: ServerResponse;
}

type Desired = Extract<AgentSyncAnswer, { kind: "desired" }>;

/** How long the test admin holds a poll, shorter than a real one. */
const holdMs = 300;
const credential = "node-credential-1";

/** The control plane's side of the agents' wire contract, with a desired state that the test sets by hand. */
export class TestAdmin implements AsyncDisposable {
  readonly joins: z.infer<typeof agentJoinRequest>[] = [];
  /** Every sync request, oldest first. */
  readonly syncs: AgentSyncRequest[] = [];
  clusterId = "cluster_1";
  /** Refuse everything with this status and message. */
  refusal: { readonly status: number; readonly message: string } | null = null;
  #desired: Pick<Desired, "version" | "run" | "stop" | "logs"> = { version: 0, run: [], stop: [], logs: [] };
  readonly #server: Server;
  readonly #waiting = new Set<Waiting>();
  #url = "";

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(host: string, port: number): Promise<TestAdmin> {
    const admin = new TestAdmin();
    await new Promise<void>((resolve) => admin.#server.listen(port, host, resolve));
    admin.#url = `http://${host}:${port}`;
    return admin;
  }

  get url(): string {
    return this.#url;
  }

  get last(): AgentSyncRequest | undefined {
    return this.syncs.at(-1);
  }

  /** Sets the desired state, as a new version unless told otherwise, and wakes held polls. */
  desire(change: { run?: ShardLaunch[]; stop?: ShardStop[]; logs?: Desired["logs"]; version?: number }): void {
    const version = change.version ?? this.#desired.version + 1;
    this.#desired = { version, run: change.run ?? [], stop: change.stop ?? [], logs: change.logs ?? [] };
    for (const waiting of this.#waiting) this.#release(waiting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (this.refusal !== null) {
      response.writeHead(this.refusal.status).end(JSON.stringify({ error: { message: this.refusal.message } }));
      return;
    }
    const token = request.headers.authorization;
    if (request.url === "/api/trpc/agents.join" && token === "Bearer join-token-1") {
      this.joins.push(agentJoinRequest.parse(body));
      send(response, { nodeId: "node_1", credential, clusterId: this.clusterId });
      return;
    }
    if (request.url !== "/api/trpc/agents.sync" || token !== `Bearer ${credential}`) {
      response.writeHead(401).end(JSON.stringify({ error: { message: "who are you" } }));
      return;
    }
    const sync = agentSyncRequest.parse(body);
    this.syncs.push(sync);
    const waiting = { request: sync, response };
    if (this.#desired.version !== sync.appliedVersion || this.#desired.logs.length > 0) {
      this.#release(waiting);
      return;
    }
    this.#waiting.add(waiting);
    const timer = setTimeout(() => this.#release(waiting), holdMs);
    response.once("close", () => {
      clearTimeout(timer);
      this.#waiting.delete(waiting);
    });
  }

  #release({ request, response }: Waiting): void {
    const { clusterId } = this;
    const common = { protocol: 1, clusterId, version: this.#desired.version, pollAfterMs: 100 } as const;
    const isNew = this.#desired.version !== request.appliedVersion || this.#desired.logs.length > 0;
    send(response, isNew ? { kind: "desired", ...common, ...this.#desired } : { kind: "unchanged", ...common });
    this.#desired = { ...this.#desired, logs: [] };
  }
}

function send(response: ServerResponse, data: unknown): void {
  if (response.writableEnded || response.destroyed) return;
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ result: { data } }));
}
