import { createServer } from "node:net";
import { aborted } from "../../engine/termination.ts";
import type { ProcessPorts, RunEnd } from "../openai/process-ports.ts";

const USAGE = "error: unknown argument: ";
const VALUED = ["-H", "--host", "-p", "--port", "-t", "--threads", "-d", "--device", "-m", "--mem"];
const SWITCHES = ["-c", "--cache"];
const DEFAULT_PORT = 50_052;

export type WorkerArguments =
  | { readonly kind: "serve"; readonly host: string; readonly port: number }
  | { readonly kind: "refused"; readonly text: string };

/** Arguments of `ggml-rpc-server` (tools/rpc/README.md). Simulator flags are taken and change nothing but the claim. */
export function parseWorkerArguments(argv: readonly string[]): WorkerArguments {
  let [host, port] = ["127.0.0.1", DEFAULT_PORT];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (SWITCHES.includes(word)) continue;
    if (!VALUED.includes(word) && !word.startsWith("--sim-")) return { kind: "refused", text: `${USAGE}${word}\n` };
    at += 1;
    const value = argv[at] ?? "";
    if (word === "-H" || word === "--host") host = value;
    if (word === "-p" || word === "--port") port = Number(value);
  }
  return { kind: "serve", host, port };
}

/**
 * A worker that holds a part of a model for one head. Whatever it is sent it sends back, by which the head notices that
 * it still runs. A taken port ends it with code 0, as the real one does.
 */
export async function runWorker(
  { host, port }: Extract<WorkerArguments, { kind: "serve" }>,
  ports: ProcessPorts,
): Promise<RunEnd> {
  const stopped = new AbortController();
  ports.onTerminationRequest(() => stopped.abort());
  const server = createServer((socket) => {
    ports.stdout("Accepted client connection\n");
    socket.on("data", (bytes) => void socket.write(bytes));
    socket.on("error", () => socket.destroy());
    socket.once("close", () => ports.stdout("Client connection closed\n"));
  });
  const listening = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, host, () => resolve(true));
  });
  if (!listening) ports.stderr("Failed to create server socket\n");
  ports.stdout(
    `Starting RPC server v6.0.0\n  endpoint       : ${host}:${port}\n  local cache    : n/a\nDevices:\n  SIM: simulated\n  transport      : TCP\n`,
  );
  if (listening) await aborted(stopped.signal);
  return { kind: "exit", code: 0 };
}
