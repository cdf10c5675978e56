import { access, constants, mkdir } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { EngineRegistry } from "@llmgw/engines";
import { type Clock, hostPort, type PortRange } from "@llmgw/service";
import { request } from "undici";
import { lookForEngines } from "../engines-found.ts";
import type { GpuSource } from "../gpus/gpu-source.ts";
import { readEphemeralRange } from "../processes/ephemeral-ports.ts";
import { type Check, failed, passed, warned } from "./check.ts";

export interface PreflightOptions {
  readonly dataDir: string;
  readonly modelsDir: string | null;
  readonly adminUrl: string;
  readonly advertise: string;
  readonly ports: PortRange;
  readonly gpus: GpuSource;
  readonly kernelLogPath: string;
  readonly registry: EngineRegistry;
  readonly ownVersion: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

const answerTimeoutMs = 5_000;

/** Everything that a node needs to run engines and to be reached, looked at once. Changes nothing but the data folder. */
export async function preflight(options: PreflightOptions): Promise<Check[]> {
  return [
    await checkFolder("data folder", options.dataDir),
    ...(options.modelsDir === null ? [] : [await checkModels(options.modelsDir)]),
    await checkGpus(options.gpus),
    ...(options.gpus.simulated ? [] : [await checkKernelLog(options.kernelLogPath)]),
    ...(await checkEngines(options)),
    await checkPortRange(options.ports),
    await checkOwnAddress(options),
    await checkAdmin(options.adminUrl),
  ];
}

async function checkFolder(name: string, path: string): Promise<Check> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.W_OK);
    return passed(name, path);
  } catch (error) {
    return failed(name, `${path}: ${said(error)}`, "Give this user a folder to write to (LLMGW_DATA_DIR).");
  }
}

async function checkModels(path: string): Promise<Check> {
  try {
    await access(path, constants.R_OK);
    return passed("models folder", path);
  } catch (error) {
    return failed("models folder", `${path}: ${said(error)}`, "Mount it, or correct LLMGW_MODELS_DIR.");
  }
}

async function checkGpus(source: GpuSource): Promise<Check> {
  const look = await source.look();
  if (look.kind === "failed") {
    return failed("GPU driver", look.problem, "Repair the driver until nvidia-smi (or amd-smi) lists the GPUs.");
  }
  const found = look.gpus.map(({ index, name, totalMib }) => `#${index} ${name}, ${totalMib} MiB`).join("; ");
  if (look.gpus.length === 0) return warned("GPU driver", "no GPU and no CPU memory known", "Install the GPU driver.");
  const faults = look.gpus.flatMap((gpu) => gpu.faults.map(({ evidence }) => `GPU ${gpu.index}: ${evidence}`));
  if (faults.length > 0)
    return warned("GPU driver", `${found}. ${faults.join("; ")}`, "See the hints in the dashboard.");
  if (look.gpus.every(({ vendor }) => vendor === "cpu")) {
    return warned("GPU driver", `none; ${found}`, "Fine for llama.cpp. For GPUs, install their driver.");
  }
  return passed("GPU driver", found);
}

async function checkKernelLog(path: string): Promise<Check> {
  try {
    await access(path, constants.R_OK);
    return passed("kernel log", path);
  } catch (error) {
    return warned("kernel log", said(error), "Xids of GPUs stay unknown. Run as root, or give CAP_SYSLOG.");
  }
}

async function checkEngines({ registry, ownVersion, env, clock }: PreflightOptions): Promise<Check[]> {
  const found = await lookForEngines({ registry, ownVersion, env, clock });
  if (found.length === 0) {
    const names = [...registry.values()].flatMap(({ program }) => program?.name ?? []).join(", ");
    return [
      failed("engines", `none of ${names} is on PATH`, `Install one, and start the agent with its folder on PATH.`),
    ];
  }
  return found.map(({ name, version }) =>
    version === null
      ? warned("engine", `${name}, of unknown version`, "It is on PATH and does not say its version: try it by hand.")
      : passed("engine", `${name} ${version}`),
  );
}

async function checkPortRange(ports: PortRange): Promise<Check> {
  const text = `${ports.first}-${ports.last}`;
  const ephemeral = await readEphemeralRange();
  if (ephemeral !== null && ports.first <= ephemeral.last && ports.last >= ephemeral.first) {
    const system = `${ephemeral.first}-${ephemeral.last}`;
    const todo = "Choose LLMGW_AGENT_PORTS outside it: an outgoing connection may hold a port that an engine needs.";
    return warned("engine ports", `${text} lies in the system's ephemeral range ${system}`, todo);
  }
  return passed("engine ports", text);
}

/** Opens a port of the range on the advertised address and dials it: the half of a router's way that lies here. */
async function checkOwnAddress({ advertise, ports }: PreflightOptions): Promise<Check> {
  const server = createServer((socket) => socket.destroy());
  try {
    const port = await new Promise<number>((resolve, reject) => {
      const tryFrom = (next: number) => {
        server.once("error", (error: NodeJS.ErrnoException) => {
          if (error.code === "EADDRINUSE" && next < ports.last) tryFrom(next + 1);
          else reject(error);
        });
        server.listen({ host: advertise, port: next, exclusive: true }, () => resolve(next));
      };
      tryFrom(ports.first);
    });
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host: advertise, port, timeout: answerTimeoutMs }, () => resolve());
      socket.once("error", reject);
      socket.once("timeout", () => reject(new Error("no answer")));
      socket.once("close", () => resolve());
    });
    const where = `${hostPort({ host: advertise, port: ports.first })}-${ports.last}`;
    return passed("own address", `engines can listen on ${where}; let the routers, and no one else, reach it`);
  } catch (error) {
    return failed(
      "own address",
      `${advertise}: ${said(error)}`,
      "Set LLMGW_AGENT_ADVERTISE to an address of this machine that routers can reach.",
    );
  } finally {
    server.close();
  }
}

async function checkAdmin(adminUrl: string): Promise<Check> {
  try {
    const answer = await request(`${adminUrl}/health`, { signal: AbortSignal.timeout(answerTimeoutMs) });
    await answer.body.dump();
    if (answer.statusCode === 200) return passed("admin", `${adminUrl} answers`);
    return warned("admin", `${adminUrl} answers ${answer.statusCode}`, "It is there and not ready: look at its log.");
  } catch (error) {
    return failed("admin", `${adminUrl}: ${said(error)}`, "Correct LLMGW_ADMIN_URL, or let this node reach it.");
  }
}

function said(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
