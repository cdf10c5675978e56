import type { GpuFacts, Reading } from "@llmgw/domain";
import type { Clock } from "@llmgw/service";
import { z } from "zod";
import type { GpuLook, GpuSource } from "./gpu-source.ts";
import { runTool, type ToolOutcome } from "./run-tool.ts";

export interface AmdSourceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly killAfterMs: number;
  readonly shardOfPid: (pid: number) => string | null;
}

/** A number, a number with its unit, or a word such as "N/A". */
const amount = z.union([z.number(), z.string(), z.object({ value: z.union([z.number(), z.string()]) })]).optional();
type Amount = z.infer<typeof amount>;

const metricEntry = z.object({
  gpu: z.int(),
  usage: z.object({ gfx_activity: amount }).optional(),
  temperature: z.object({ hotspot: amount, edge: amount }).optional(),
  ecc: z.object({ total_uncorrectable_count: amount }).optional(),
  mem_usage: z.object({ total_vram: amount, used_vram: amount }).optional(),
});
const listEntry = z.object({
  gpu: z.int(),
  bdf: z.string().optional(),
  uuid: z.string(),
  hip_id: amount,
  asic: z.object({ market_name: z.string() }).optional(),
});
/** Newer versions wrap the list, older ones give it bare. */
const listed = <T extends z.ZodType>(entry: T) =>
  z.union([z.array(entry), z.object({ gpu_data: z.array(entry) }).transform(({ gpu_data }) => gpu_data)]);

const rocmCard = z.record(z.string(), z.string());
const bytesPerMib = 1024 * 1024;

/**
 * AMD's GPUs, from `amd-smi` or, where that is not installed, `rocm-smi`. The index is HIP's own where the tool tells it:
 * amd-smi numbers cards in another order than programs see them.
 */
export function amdSource(options: AmdSourceOptions): GpuSource {
  const run = (program: string, args: readonly string[]) => runTool({ program, args, ...options });
  return {
    simulated: false,
    look: async () => {
      const list = await run("amd-smi", ["list", "-e", "--json"]);
      if (list.kind === "absent") return readRocm(await run("rocm-smi", rocmArgs));
      const metrics = await run("amd-smi", ["metric", "--json"]);
      return readAmdSmi(list, metrics);
    },
  };
}

const rocmArgs = ["--showmeminfo", "vram", "--showuse", "--showtemp", "--showuniqueid", "--showbus", "--json"];

function readAmdSmi(list: ToolOutcome, metrics: ToolOutcome): GpuLook {
  const cards = parsed(list, listed(listEntry));
  const values = parsed(metrics, listed(metricEntry));
  if (cards.kind === "failed") return cards;
  if (values.kind === "failed") return values;
  const gpus = cards.value.map((card): GpuFacts => {
    const metric = values.value.find(({ gpu }) => gpu === card.gpu);
    const hip = reading(card.hip_id);
    const percent = reading(metric?.usage?.gfx_activity);
    const totalMib = reading(metric?.mem_usage?.total_vram);
    const usedMib = reading(metric?.mem_usage?.used_vram);
    return factsOf({
      uuid: card.uuid,
      index: typeof hip === "number" ? hip : card.gpu,
      name: card.asic?.market_name ?? "AMD GPU",
      pciBusId: card.bdf ?? null,
      totalMib: metric === undefined ? "unreadable" : totalMib,
      usedMib,
      temperatureC: reading(metric?.temperature?.hotspot ?? metric?.temperature?.edge),
      utilizationRatio: typeof percent === "number" ? percent / 100 : percent,
      eccUncorrected: reading(metric?.ecc?.total_uncorrectable_count),
    });
  });
  return { kind: "seen", gpus, warning: null };
}

function readRocm(outcome: ToolOutcome): GpuLook {
  if (outcome.kind === "absent") return { kind: "seen", gpus: [], warning: null };
  const cards = parsed(outcome, z.record(z.string(), rocmCard));
  if (cards.kind === "failed") return cards;
  const gpus = Object.entries(cards.value).flatMap(([key, card]): GpuFacts[] => {
    const index = /^card(\d+)$/.exec(key)?.[1];
    if (index === undefined) return [];
    const mib = (text: string | undefined): Reading => {
      const bytes = reading(text);
      return typeof bytes === "number" ? Math.round(bytes / bytesPerMib) : bytes;
    };
    const percent = reading(card["GPU use (%)"]);
    return [
      factsOf({
        uuid: card["Unique ID"] ?? `AMD-${card["PCI Bus"] ?? index}`,
        index: Number(index),
        name: card["Card series"] ?? card["Card Series"] ?? "AMD GPU",
        pciBusId: card["PCI Bus"] ?? null,
        totalMib: mib(card["VRAM Total Memory (B)"]),
        usedMib: mib(card["VRAM Total Used Memory (B)"]),
        temperatureC: reading(card["Temperature (Sensor edge) (C)"]),
        utilizationRatio: typeof percent === "number" ? percent / 100 : percent,
        eccUncorrected: "unsupported",
      }),
    ];
  });
  return { kind: "seen", gpus, warning: null };
}

function factsOf(known: Omit<GpuFacts, "vendor" | "migMode" | "faults" | "processes">): GpuFacts {
  const isUnreadable = known.totalMib === "unreadable" || known.usedMib === "unreadable";
  return {
    ...known,
    vendor: "amd",
    migMode: "unsupported",
    faults: isUnreadable ? [{ kind: "unreadable", evidence: "its memory cannot be read" }] : [],
    processes: [],
  };
}

/** An unknown is never 0: "N/A" is what a card does not have, any other word what could not be read. */
function reading(found: Amount): Reading {
  const value = typeof found === "object" ? found.value : found;
  if (value === undefined || value === "N/A") return "unsupported";
  const number = typeof value === "number" ? value : value.trim() === "" ? Number.NaN : Number(value);
  return Number.isFinite(number) && number >= 0 ? number : "unreadable";
}

function parsed<T>(
  outcome: ToolOutcome,
  schema: z.ZodType<T>,
): { readonly kind: "ok"; readonly value: T } | Extract<GpuLook, { kind: "failed" }> {
  if (outcome.kind !== "ended") return { kind: "failed", problem: `AMD's tool did not answer (${outcome.kind})` };
  const text = outcome.stdout.slice(Math.max(0, outcome.stdout.search(/[[{]/)));
  try {
    const result = schema.safeParse(JSON.parse(text));
    if (result.success) return { kind: "ok", value: result.data };
    return { kind: "failed", problem: `AMD's tool answers in a shape not known: ${z.prettifyError(result.error)}` };
  } catch {
    const said = (outcome.stderr.trim() || outcome.stdout.trim()).slice(0, 200);
    return { kind: "failed", problem: `AMD's tool gives no JSON (exit code ${outcome.code}): ${said}` };
  }
}
