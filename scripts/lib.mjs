// What the scripts of this folder share. Node's own modules only: it runs before anything is installed.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Ends the process with a message for a person unless Node is new enough (package.json, engines). */
export function requireNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  process.stderr.write(`llmgw needs Node 20.19 or newer; this is ${process.version} (${process.execPath}).\n`);
  process.exit(1);
}

/** Runs a command and resolves to its exit code; signals reach the child and this process waits for it. */
export function run(command, args, { env = {}, cwd = root, quiet = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit",
    });
    const output = [];
    child.stdout?.on("data", (chunk) => output.push(chunk));
    child.stderr?.on("data", (chunk) => output.push(chunk));
    const forward = (signal) => child.kill(signal);
    process.on("SIGINT", forward);
    process.on("SIGTERM", forward);
    const finish = (code, text) => {
      process.off("SIGINT", forward);
      process.off("SIGTERM", forward);
      resolve({ code, output: text ?? Buffer.concat(output).toString() });
    };
    child.on("error", (error) => finish(127, `${command}: ${error.message}\n`));
    child.on("exit", (code, signal) => finish(code ?? (signal === "SIGINT" ? 130 : 143)));
  });
}

/** A bin of node_modules, run by this Node (no shell, no npx start-up). */
export function bin(packageName, file) {
  return [process.execPath, join(root, "node_modules", packageName, file)];
}

/** sha256 over the content of files and folders (node_modules and build output left out), in a fixed order. */
export function hashOf(paths) {
  const hash = createHash("sha256");
  const visit = (path) => {
    const full = join(root, path);
    if (!existsSync(full)) return;
    if (statSync(full).isDirectory()) {
      for (const name of readdirSync(full).sort()) {
        if (
          name === "node_modules" ||
          name === ".next" ||
          name === "generated" ||
          name === "build" ||
          name.includes(".test.")
        )
          continue;
        visit(join(path, name));
      }
    } else hash.update(`${path}\0`).update(readFileSync(full)).update("\0");
  };
  for (const path of paths) visit(path);
  return hash.digest("hex");
}

/** Does a step unless its inputs are what they were when it last succeeded. */
export async function unlessFresh({ name, inputs, stamp, work }) {
  const stampFile = join(root, stamp);
  const now = hashOf(inputs);
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === now) return;
  const started = Date.now();
  process.stderr.write(`${name} …\n`);
  const ticker = setInterval(() => {
    process.stderr.write(`${name}: ${Math.round((Date.now() - started) / 1000)} s so far …\n`);
  }, 15_000);
  try {
    await work();
  } finally {
    clearInterval(ticker);
  }
  writeFileSync(stampFile, now);
  process.stderr.write(`${name}: done in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}

/** Ends the process, with what the failed step printed. */
export function fail(step, { code, output }) {
  process.stderr.write(`${output}\n${step} failed (exit code ${code}).\n`);
  process.exit(code === 0 ? 1 : code);
}
