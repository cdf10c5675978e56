import { describeReason, type PlacementRecord } from "@llmgw/domain";
import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { gib, printOne, tableWidth } from "../ctl/output.ts";
import { plural } from "../ctl/program-name.ts";
import type { Registrar } from "../ctl/registrar.ts";
import { type Column, table } from "../ctl/table.ts";

/** `ctl explain-placement MODEL`: every candidate and why each was or was not taken. Exit code 8 when nothing fits. */
async function explainPlacement(
  context: CommandContext,
  model: string,
  options: { exclude?: string[] },
): Promise<number> {
  const { client } = await context.connection();
  const record = await client.placement.explain.query({ model, exclude: options.exclude ?? [] });
  printOne(record, context.format, () => describeRecord(record, tableWidth(context.format)));
  return record.outcome.kind === "placed" ? exit.ok : exit.cannot;
}

function describeRecord(record: PlacementRecord, width: number | null): string {
  const { need, counts, outcome } = record;
  const verdict =
    outcome.kind === "placed"
      ? `${record.modelId} fits: ${outcome.nodeName}${outcome.runnerUp === null ? "" : `, runner-up ${outcome.runnerUp}`}`
      : `${record.modelId} cannot be placed: ${describeReason(outcome.reason)}`;
  const head = `needs ${plural(need.gpus, "GPU")} with ${gib(need.memoryMibPerGpu)} free each, engine ${need.engine}; ${counts.accepted} of ${plural(counts.nodes, "node")} fit (snapshot ${record.snapshotVersion})`;
  const rows = record.candidates.flatMap((node) => [
    {
      who: node.nodeName,
      verdict: node.accepted ? "fits" : `no: ${node.firstFailed ?? ""}`,
      score: node.score === null ? "" : node.score.toFixed(1),
      why: node.results.flatMap((result) => (result.pass ? [] : [describeReason(result.reason)])).join("; "),
    },
    ...node.gpus.map((gpu) => ({
      who: `  GPU ${gpu.index}`,
      verdict: gpu.chosen ? "chosen" : gpu.accepted ? "fits" : "no",
      score: gpu.freeMib === null ? "unknown" : `${gib(gpu.freeMib)} free`,
      why: gpu.results.flatMap((result) => (result.pass ? [] : [describeReason(result.reason)])).join("; "),
    })),
  ]);
  const columns: Column<(typeof rows)[number]>[] = [
    { head: "CANDIDATE", cell: (row) => row.who },
    { head: "VERDICT", cell: (row) => row.verdict },
    { head: "SCORE / FREE", cell: (row) => row.score },
    { head: "WHY NOT", cell: (row) => row.why, narrow: "wrap" },
  ];
  const candidates = table(rows, columns, width);
  return [verdict, head, "", candidates].join("\n");
}

export function registerExplainPlacement(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "explain-placement <model>",
      description: "every candidate for a replica and why each was or was not taken",
      examples: ["explain-placement demo-8b", "explain-placement demo-8b --exclude sim-1 -o json"],
    })
    .option("--exclude <node...>", "as if these nodes were gone");
  registrar.on<{ exclude?: string[] }>(command, (context, [model = ""], options) =>
    explainPlacement(context, model, options),
  );
}
