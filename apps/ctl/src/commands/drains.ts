import type { DrainView } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";
import type { CommandContext } from "../ctl/context.ts";
import { age, state } from "../ctl/output.ts";
import { printList, watchOption } from "../ctl/print-list.ts";
import type { Registrar } from "../ctl/registrar.ts";

interface DrainsOptions {
  readonly node?: string;
  readonly open?: boolean;
  readonly watch?: boolean;
}

/** `ctl drains`: newest first. */
async function drains(context: CommandContext, options: DrainsOptions): Promise<number> {
  const { client } = await context.connection();
  const { node } = options;
  if (node !== undefined) await client.nodes.get.query({ node }); // an unknown node is not one without drains
  const filter = { node, ...(options.open === true ? { open: true } : {}) };
  return printList(context, {
    fetch: () => client.drains.list.query(filter),
    watch: options.watch,
    name: (drain) => drain.id,
    empty: options.open === true ? "No drain is open." : "No drain.",
    columns: [
      { head: "DRAIN", cell: (drain) => drain.id },
      { head: "OF", cell: scopeOf },
      { head: "STATE", cell: (drain) => state(drain.result ?? "draining") },
      { head: "STOPPED", cell: moved },
      { head: "STARTED", cell: (drain) => age(drain.startedAt, Date.now()), passing: true },
      { head: "BY", cell: (drain) => drain.by },
      { head: "REASON", cell: (drain) => drain.reason, narrow: "wrap" },
      {
        head: "WAITS FOR",
        cell: (drain) => (drain.waitingFor === null ? "" : describeReason(drain.waitingFor)),
        narrow: "wrap",
      },
    ],
  });
}

function scopeOf(drain: DrainView): string {
  if (drain.scope === "replica") return drain.replicaId ?? drain.nodeName;
  return drain.scope === "gpu" ? `${drain.nodeName} ${drain.gpuUuid ?? "a GPU"}` : drain.nodeName;
}

function moved({ moves }: DrainView): string {
  return `${moves.filter(({ step }) => step === "stopped").length}/${moves.length}`;
}

export function registerDrains(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "drains",
      description: "drains, newest first",
      examples: ["drains --open", "drains --node sim-1 -w"],
    })
    .option("--node <node>", "only of this node")
    .option("--open", "only those that have not ended")
    .option(...watchOption);
  registrar.on<DrainsOptions>(command, (context, _args, options) => drains(context, options));
}
