import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { Child } from "./child.ts";

/** Something that stands between clients and the engine. */
export interface Peer {
  readonly name: string;
  readonly child: Child;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PeerOptions {
  readonly enginePort: number;
  /** Scratch folder of this run. */
  readonly folder: string;
  /** First of some free ports, for programs that cannot choose one themselves. */
  readonly basePort: number;
  /** How many endpoints the router has; all are the same engine. */
  readonly endpoints: number;
  /** Flags of Node for the router, such as --cpu-prof. */
  readonly nodeArgs: readonly string[];
}

export const peerNames = ["llmgw", "bare undici relay", "nginx", "haproxy", "portkey"] as const;
export type PeerName = (typeof peerNames)[number];

const PORTKEY = "@portkey-ai/gateway@1.15.2";
const PATH = "/v1/chat/completions";
const root = join(import.meta.dirname, "../..");
const key = "bench-key";

/** Starts a peer on one core; answers why not where this machine has not got it. */
export async function startPeer(name: PeerName, options: PeerOptions): Promise<Peer | string> {
  switch (name) {
    case "llmgw":
      return await startRouter(options);
    case "bare undici relay": {
      const args = [join(import.meta.dirname, "bare-relay-main.ts"), `http://127.0.0.1:${options.enginePort}`];
      const child = await Child.start(pinned(process.execPath, ["--import", tsx(), ...args], { portOf: jsonPort }));
      return { name, child, path: PATH, headers: {} };
    }
    case "nginx":
      return await startNginx(options);
    case "haproxy":
      return await startHaproxy(options);
    case "portkey":
      return await startPortkey(options);
  }
}

/** Core 0 is the peers' own; the engine and the load run on the others. */
function pinned(
  command: string,
  args: readonly string[],
  rest: Omit<Parameters<typeof Child.start>[0], "command" | "args"> = {},
): Parameters<typeof Child.start>[0] {
  return hasProgram("taskset")
    ? { command: "taskset", args: ["-c", "0", command, ...args], ...rest }
    : { command, args, ...rest };
}

export function tsx(): string {
  return import.meta.resolve("tsx");
}

export function jsonPort(line: string): number | null {
  const found = /^\{"port":(\d+)\}$/.exec(line)?.[1];
  return found === undefined ? null : Number(found);
}

async function startRouter({ enginePort, folder, endpoints, nodeArgs }: PeerOptions): Promise<Peer> {
  const path = join(folder, `router-${endpoints}.yaml`);
  const list = Array.from({ length: endpoints }, (_, index) => ({
    id: `r${index + 1}`,
    url: `http://127.0.0.1:${enginePort}`,
    engine: "none",
    maxInflight: 20_000,
  }));
  const document = {
    listen: "127.0.0.1:0",
    diagnostics: "127.0.0.1:0",
    keys: [{ id: "bench", secret: key, models: ["*"] }],
    models: [{ id: "m1", endpoints: list }],
  };
  writeFileSync(path, JSON.stringify(document));
  const args = [...nodeArgs, await bundledRouter(), "--config", path];
  const portOf = (line: string) => {
    if (!line.includes("client listener ready")) return null;
    const parsed: unknown = JSON.parse(line);
    const url = typeof parsed === "object" && parsed !== null && "url" in parsed ? String(parsed.url) : "";
    return Number(new URL(url).port);
  };
  const child = await Child.start(pinned(process.execPath, args, { portOf, cwd: folder }));
  return { name: "llmgw", child, path: PATH, headers: { authorization: `Bearer ${key}` } };
}

/** The router as one file, as `npm start` runs it; below this folder's node_modules, where it finds its native packages. */
async function bundledRouter(): Promise<string> {
  const outfile = join(root, "test-results/bench/router.mjs");
  const require = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  await build({
    entryPoints: [join(root, "apps/router/src/main.ts")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    logLevel: "error",
    external: ["@datadog/pprof", "pino-pretty"],
    banner: { js: require },
  });
  return outfile;
}

async function startNginx({ enginePort, folder, basePort }: PeerOptions): Promise<Peer | string> {
  if (!hasProgram("nginx")) return "nginx is not on PATH";
  const config = join(folder, "nginx.conf");
  writeFileSync(
    config,
    `daemon off; worker_processes 1; worker_rlimit_nofile 20000; error_log stderr; pid ${folder}/nginx.pid;
events { worker_connections 16000; }
http { access_log off; client_max_body_size 200m; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s; keepalive_requests 1000000;
upstream engine { server 127.0.0.1:${enginePort}; keepalive 512; keepalive_requests 1000000; }
server { listen 127.0.0.1:${basePort} backlog=8192; location / { proxy_pass http://engine; proxy_http_version 1.1;
proxy_set_header Connection ""; proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 600s; } } }
`,
  );
  const child = await Child.start(pinned("nginx", ["-c", config, "-p", folder], { port: basePort }));
  return { name: "nginx", child, path: PATH, headers: {} };
}

async function startHaproxy({ enginePort, folder, basePort }: PeerOptions): Promise<Peer | string> {
  if (!hasProgram("haproxy")) return "haproxy is not on PATH";
  const config = join(folder, "haproxy.cfg");
  writeFileSync(
    config,
    `global
  maxconn 9000
  nbthread 1
defaults
  mode http
  timeout connect 2s
  timeout client 600s
  timeout server 600s
  option http-keep-alive
frontend client
  bind 127.0.0.1:${basePort + 1} backlog 8192
  default_backend engine
backend engine
  http-reuse always
  server engine 127.0.0.1:${enginePort}
`,
  );
  const child = await Child.start(pinned("haproxy", ["-db", "-f", config], { port: basePort + 1 }));
  return { name: "haproxy", child, path: PATH, headers: {} };
}

/** Installed for the bench alone, at its first run: nobody else needs it. */
async function startPortkey({ enginePort, basePort }: PeerOptions): Promise<Peer | string> {
  const home = join(root, "test-results/bench-peers");
  const program = join(home, "node_modules/@portkey-ai/gateway/build/start-server.js");
  if (!existsSync(program)) {
    mkdirSync(home, { recursive: true });
    try {
      execFileSync("npm", ["install", "--prefix", home, "--no-audit", "--no-fund", "--ignore-scripts", PORTKEY], {
        stdio: "ignore",
        timeout: 180_000,
      });
    } catch {
      return `${PORTKEY} could not be installed from npm`;
    }
  }
  const port = basePort + 2;
  const env = ["NODE_ENV=production", "TRUSTED_CUSTOM_HOSTS=127.0.0.1,localhost"];
  const child = await Child.start(
    pinned("env", [...env, process.execPath, program, "--headless", `--port=${port}`], { port, cwd: home }),
  );
  const headers = {
    authorization: "Bearer engine-key",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://127.0.0.1:${enginePort}/v1`,
  };
  return { name: "portkey", child, path: PATH, headers };
}

function hasProgram(name: string): boolean {
  return spawnSync("which", [name]).status === 0;
}
