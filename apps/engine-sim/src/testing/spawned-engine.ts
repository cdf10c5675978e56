import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

/** A real engine process of a test. Disposing it kills it and waits until it is gone. */
export interface SpawnedEngine extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** Resolves with the first output that matches; rejects when the process exits without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** How the process ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

/** The first words of each engine's command line. */
const COMMANDS = {
  vllm: ["serve", "test-model"],
  sglang: ["serve", "--model-path", "test-model"],
  llamacpp: ["llama-server", "-m", "test-model"],
} as const;
export type TestDialect = keyof typeof COMMANDS;

/** Starts an engine on a free port of 127.0.0.1, without waiting for it to be ready. */
export async function spawnEngine(args: readonly string[], dialect: TestDialect = "vllm"): Promise<SpawnedEngine> {
  const port = await freePort();
  const words = ["--dialect", dialect, ...COMMANDS[dialect], "--host", "127.0.0.1", "--port", String(port), ...args];
  return spawnWords(words, port);
}

/** Starts the simulator with a whole command line of its own. `port` is where it will listen. */
export function spawnWords(words: readonly string[], port: number): SpawnedEngine {
  const child = spawn(process.execPath, ["--import", "tsx", MAIN, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const watchers = new Set<() => void>();
  const collect = (chunk: Buffer) => {
    text += chunk.toString();
    for (const watcher of watchers) {
      watcher();
    }
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });

  return {
    url: `http://127.0.0.1:${port}`,
    child,
    output: () => text,
    exited,
    printed: async (pattern) =>
      await new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(text);
          if (match !== null) {
            watchers.delete(look);
            resolve(match);
          }
        };
        watchers.add(look);
        void exited.then(() => reject(new Error(`the engine ended without printing ${pattern}:\n${text}`)));
        look();
      }),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Starts an engine and waits until it answers. */
export async function readyEngine(args: readonly string[], dialect: TestDialect = "vllm"): Promise<SpawnedEngine> {
  const engine = await spawnEngine(["--sim-load-ms", "1", ...args], dialect);
  await engine.printed(/Application startup complete\.|fired up and ready|listening on http/);
  return engine;
}

/** A port nobody listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error(`a TCP server has a port, got ${JSON.stringify(address)}`);
  }
  server.close();
  await once(server, "close");
  return address.port;
}
