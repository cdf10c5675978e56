import type { ReplicaView } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";
import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { age, printOne, state } from "../ctl/output.ts";
import { printList, watchOption } from "../ctl/print-list.ts";
import { programName } from "../ctl/program-name.ts";
import type { Registrar } from "../ctl/registrar.ts";

interface ReplicasOptions {
  readonly model?: string;
  readonly node?: string;
  readonly all?: boolean;
  readonly watch?: boolean;
}

/** `ctl replicas`, `ctl replicas REPLICA`. */
async function replicas(context: CommandContext, id: string | undefined, options: ReplicasOptions): Promise<number> {
  const { client } = await context.connection();
  if (id !== undefined) {
    const { replica, record } = await client.replicas.get.query({ replica: id });
    printOne({ replica, record }, context.format, { text: () => describeReplica(replica), name: () => replica.id });
    return exit.ok;
  }
  const { model, node } = options;
  // An unknown name is not one without replicas: these answer with what there is.
  if (model !== undefined) await client.models.get.query({ model });
  if (node !== undefined) await client.nodes.get.query({ node });
  const filter = { model, node, includeStopped: options.all ?? false };
  return printList(context, {
    fetch: () => client.replicas.list.query(filter),
    watch: options.watch,
    name: (replica) => replica.id,
    empty: `No replica. \`${programName()} ctl apply -f model.yaml\` deploys a model.`,
    columns: [
      { head: "REPLICA", cell: (replica) => replica.id },
      { head: "MODEL", cell: (replica) => replica.modelId },
      { head: "PHASE", cell: (replica) => state(replica.phase) },
      { head: "FOR", cell: (replica) => age(replica.phaseSince, Date.now()), passing: true },
      { head: "SHARDS", cell: shards },
      { head: "IN FLIGHT", cell: (replica) => String(replica.routing.inflight) },
      {
        head: "WHY",
        cell: (replica) => (replica.reason === null ? "" : describeReason(replica.reason)),
        narrow: "wrap",
      },
    ],
  });
}

function shards(replica: ReplicaView): string {
  return replica.shards
    .map((shard) => `${shard.nodeName}[${shard.gpus.map((gpu) => gpu.index ?? gpu.uuid).join(",")}]`)
    .join(" + ");
}

function describeReplica(replica: ReplicaView): string {
  const lines = [
    `${replica.id}: ${replica.phase} since ${replica.phaseSince}, generation ${replica.generation}, model ${replica.modelId} revision ${replica.modelRevision}`,
  ];
  if (replica.reason !== null) lines.push(`why: ${describeReason(replica.reason)}`);
  if (replica.replaces !== null) lines.push(`replaces ${replica.replaces}`);
  if (replica.replacedBy !== null) lines.push(`replaced by ${replica.replacedBy}`);
  for (const shard of replica.shards) {
    const seen = shard.observed;
    const at = `${shard.nodeName} GPU ${shard.gpus.map((gpu) => gpu.index ?? gpu.uuid).join(", ")}`;
    const what =
      seen === null ? "nothing reported" : `${seen.phase}, pid ${seen.pid ?? "-"}, ${seen.url ?? "no endpoint"}`;
    lines.push(`shard ${replica.id}/${shard.rank} (generation ${shard.generation}) on ${at}: ${what}`);
  }
  for (const router of replica.routing.routers) {
    lines.push(`router ${router.name}: ${router.inflight} in flight, probe ${router.probe}, breaker ${router.breaker}`);
  }
  for (const failure of replica.failures) {
    lines.push(
      "",
      `${failure.which} failure of shard ${failure.rank} on ${failure.nodeName} at ${failure.at}: ${failure.exit.category}`,
      `  ${failure.exit.cause}`,
      ...(failure.exit.hint === null ? [] : [`  hint: ${failure.exit.hint}`]),
      ...failure.exit.tail.slice(-10).map((line) => `  | ${line}`),
    );
  }
  return lines.join("\n");
}

export function registerReplicas(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "replicas [replica]",
      description: "replicas, or one with its shards and failures",
      examples: ["replicas --model demo-8b", "replicas -w", "replicas demo-8b-abcde"],
    })
    .option("--model <model>", "only of this model")
    .option("--node <node>", "only with a shard on this node")
    .option("--all", "stopped ones too")
    .option(...watchOption);
  registrar.on<ReplicasOptions>(command, (context, [replica], options) => replicas(context, replica, options));
}
