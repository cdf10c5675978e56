// The gates: each looks at the tree, says how much it looked at, and passes or fails as a whole.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bin, root, run } from "./lib.mjs";

const tracked = (...patterns) =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns], { cwd: root })
    .toString()
    .split("\n")
    .filter(Boolean);

async function formatAndLint() {
  const [node, biome] = bin("@biomejs/biome", "bin/biome");
  const done = await run(node, [biome, "ci", ".", "--colors=off", "--max-diagnostics=50"], { quiet: true });
  const looked = /Checked (\d+) files/.exec(done.output)?.[1] ?? "0";
  return { ok: done.code === 0 && Number(looked) > 0, looked: `${looked} files`, output: done.output };
}

async function types() {
  const [node, turbo] = bin("turbo", "bin/turbo");
  const done = await run(node, [turbo, "run", "types", "--output-logs=errors-only", "--no-update-notifier"], {
    quiet: true,
    env: { TURBO_TELEMETRY_DISABLED: "1", FORCE_COLOR: "0" },
  });
  const looked = /Tasks:\s+(\d+) successful, (\d+) total/.exec(done.output);
  const files = tracked("*.ts", "*.tsx").length;
  return {
    ok: done.code === 0 && Number(looked?.[2] ?? 0) > 0,
    looked: `${looked?.[2] ?? 0} packages, ${files} files`,
    output: done.output,
  };
}

async function unused() {
  const [node, knip] = bin("knip", "bin/knip.js");
  const done = await run(node, [knip, "--no-progress"], { quiet: true });
  return { ok: done.code === 0, looked: `${tracked("*.ts", "*.tsx", "*.mjs").length} files`, output: done.output };
}

/** A server module in what browsers get would be a leak: the emitted chunks are read, not the sources. */
async function clientBundle() {
  const dir = join(root, "apps/admin/.next/static");
  const chunks = execFileSync("find", [dir, "-name", "*.js"]).toString().split("\n").filter(Boolean);
  const markers = ["PrismaClient", "initTRPC", "node:fs", "node:child_process", "DATABASE_URL"];
  const found = chunks.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    return markers.filter((marker) => text.includes(marker)).map((marker) => `${file}: contains "${marker}"`);
  });
  return { ok: found.length === 0 && chunks.length > 0, looked: `${chunks.length} chunks`, output: found.join("\n") };
}

export const gates = [
  { name: "format and lint", check: formatAndLint },
  { name: "types", check: types },
  { name: "unused code and dependencies", check: unused },
];

export const builtGates = [{ name: "client bundle", check: clientBundle }];

/** Runs gates in order; each counts as one test. */
export async function runGates(list) {
  let passed = 0;
  let failed = 0;
  for (const gate of list) {
    const started = Date.now();
    const result = await gate.check();
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${result.ok ? "ok  " : "FAIL"} ${gate.name}: looked at ${result.looked} (${seconds} s)\n`);
    if (result.ok) passed += 1;
    else {
      failed += 1;
      process.stdout.write(`${result.output}\n`);
    }
  }
  return { passed, failed };
}
