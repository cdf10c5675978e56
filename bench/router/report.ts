import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import type { Numbers } from "./scenarios.ts";

export interface Row {
  readonly scenario: string;
  readonly about: string;
  readonly peer: string;
  /** Medians over the rounds. */
  readonly numbers: Numbers;
}

const root = join(import.meta.dirname, "../..");
const BEGIN = "<!-- bench:router -->";
const END = "<!-- /bench:router -->";

/** Medians of several rounds, number by number. */
export function medians(rounds: readonly Numbers[]): Numbers {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name] ?? Number.NaN))]));
}

/** The rows as a Markdown table for each scenario, with the ratio to the bare relay where it was measured. */
export function tables(rows: readonly Row[]): string {
  const scenarios = [...new Set(rows.map(({ scenario }) => scenario))];
  return scenarios
    .map((scenario) => {
      const own = rows.filter((row) => row.scenario === scenario);
      const names = Object.keys(own[0]?.numbers ?? {});
      const bare = own.find(({ peer }) => peer === "bare undici relay")?.numbers;
      const ratioOf = ["per second", "CPU µs each"].filter((name) => bare !== undefined && names.includes(name));
      const head = ["", ...names, ...ratioOf.map((name) => `${name}, to bare`)];
      const lines = own.map(({ peer, numbers }) => [
        peer,
        ...names.map((name) => shown(numbers[name])),
        ...ratioOf.map((name) => shown((numbers[name] ?? Number.NaN) / (bare?.[name] ?? Number.NaN))),
      ]);
      const table = [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`);
      return `**${scenario}** (${own[0]?.about ?? ""})\n\n${table.join("\n")}\n`;
    })
    .join("\n");
}

export function machine(): string {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root }).toString().trim();
  return `${cpus().length} × ${cpus()[0]?.model ?? "unknown CPU"}, Node ${process.version}, commit ${commit}`;
}

export function writeJson(rows: readonly Row[], notes: readonly string[]): string {
  const path = join(root, "test-results/bench/router.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ machine: machine(), at: new Date().toISOString(), notes, rows }, null, 2));
  return path;
}

/** Puts the tables into docs/performance.md, between their marks. */
export function writeDocument(text: string): void {
  const path = join(root, "docs/performance.md");
  const document = readFileSync(path, "utf8");
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin === -1 || end === -1) throw new Error(`${path} has no marks ${BEGIN} and ${END} to write between`);
  writeFileSync(path, `${document.slice(0, begin + BEGIN.length)}\n${text}\n${document.slice(end)}`);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function shown(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 1 : 2);
}
