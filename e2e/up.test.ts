import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunFile, runFile } from "@llmgw/wire";
import { afterEach, expect, test } from "vitest";
import { freePort } from "./harness/free-port.ts";
import { root } from "./harness/program.ts";
import { waitFor } from "./harness/wait.ts";

const dir = mkdtempSync(join(tmpdir(), "llmgw-up-"));
let child: ChildProcess | null = null;

afterEach(async () => {
  child?.kill("SIGTERM");
  await waitFor("everything below the data folder to end", () => processesOf(dir).length === 0, { timeoutMs: 30_000 });
  rmSync(dir, { recursive: true, force: true });
});

test("llmgw up serves, leaves nothing running after Ctrl-C, and comes back with its data after kill -9 of everything", async () => {
  const ports = [await freePort(), await freePort(), await freePort()];
  const first = await start(ports);
  const answer = await fetch(`${first.routerUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${first.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: first.model, stream: true, messages: [{ role: "user", content: "Hello" }] }),
  });
  const text = await answer.text();
  expect(text).toContain("chat.completion.chunk");
  expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);

  const busy = spawn(process.execPath, [join(root, "apps/ctl/bin/llmgw.mjs"), "up"], {
    env: { ...env(ports), LLMGW_DATA_DIR: dir },
  });
  let said = "";
  busy.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  expect(await new Promise((resolve) => busy.on("exit", resolve))).toBe(2);
  expect(said).toContain(String(first.pids["up"]));

  for (const pid of processesOf(dir)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it died with its parent
    }
  }
  await waitFor("the killed tree to be gone", () => processesOf(dir).length === 0);
  const second = await start(ports);
  expect(second.apiKey).toBe(first.apiKey);
  const models = await fetch(`${second.routerUrl}/v1/models`, {
    headers: { authorization: `Bearer ${second.apiKey}` },
  });
  expect(JSON.stringify(await models.json())).toContain(second.model);

  child?.kill("SIGINT");
  expect(await new Promise((resolve) => child?.on("exit", resolve))).toBe(0);
  expect(processesOf(dir)).toEqual([]);
  expect(existsSync(join(dir, "run.json"))).toBe(false);
}, 300_000);

function env(ports: readonly number[]): NodeJS.ProcessEnv {
  const [admin, router, diagnostics] = ports;
  return {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    LLMGW_DATA_DIR: dir,
    LLMGW_ADMIN_LISTEN: `127.0.0.1:${admin}`,
    LLMGW_ROUTER_LISTEN: `127.0.0.1:${router}`,
    LLMGW_ROUTER_DIAG_LISTEN: `127.0.0.1:${diagnostics}`,
  };
}

async function start(ports: readonly number[]): Promise<RunFile> {
  const started = spawn(process.execPath, [join(root, "apps/ctl/bin/llmgw.mjs"), "up"], {
    env: env(ports),
    detached: true,
  });
  child = started;
  let said = "";
  const note = (chunk: Buffer) => {
    said += chunk.toString();
  };
  started.stdout.on("data", note);
  started.stderr.on("data", note);
  const file = join(dir, "run.json");
  await waitFor("run.json", () => said.includes("llmgw is up") && existsSync(file), {
    timeoutMs: 150_000,
    describe: () => said,
  });
  return runFile.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** Pids of everything that runs for this data folder: it is in their environment, their arguments or their log's path. */
function processesOf(folder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        return ["cmdline", "environ"].some((file) => readFileSync(`/proc/${pid}/${file}`, "utf8").includes(folder));
      } catch {
        return false; // gone
      }
    });
}
