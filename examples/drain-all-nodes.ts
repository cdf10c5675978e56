// Drains the nodes of a cluster one after the other, the next only once the one before takes work again: a way to
// restart every machine without losing a request.
//
//   LLMGW_ADMIN_URL=http://127.0.0.1:7070 LLMGW_TOKEN=… node --import tsx examples/drain-all-nodes.ts [--yes]
//
// Without --yes it prints what each drain would do and changes nothing. It stops at the first node that cannot be
// emptied without a loss, or whose drain did not end well, and leaves that node as it is.
import { setTimeout as sleep } from "node:timers/promises";
import { createLlmgwClient, type DrainView, type LlmgwClient } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";

const askEveryMs = 1_000;

/** Follows a drain to its end. The deadline is in the drain itself, so this needs none of its own. */
async function ended(client: LlmgwClient, drainId: string): Promise<DrainView> {
  for (;;) {
    const drain: DrainView = await client.drains.get.query({ drain: drainId });
    if (drain.endedAt !== null) return drain;
    await sleep(askEveryMs);
  }
}

/** Empties one node and gives it back; false when that would lose, or has lost, anything. */
async function empty(client: LlmgwClient, node: string, isDryRun: boolean): Promise<boolean> {
  const preview = await client.drains.preview.query({ nodes: [node] });
  for (const { replicaId, outcome, target, reason } of preview.moves) {
    const why = reason === null ? "" : `: ${describeReason(reason)}`;
    console.log(`${node}: ${replicaId} ${outcome.replaceAll("_", " ")} ${target ?? ""}${why}`);
  }
  if (preview.moves.some(({ outcome }) => outcome === "cannot_move")) return false;
  if (isDryRun) return true;

  // `plan` holds the server to what was just printed: if the cluster has changed, the call is refused.
  const order = { node, target: "draining", reason: "rolling restart", plan: preview.plan } as const;
  const { drain } = await client.nodes.setAvailability.mutate(order);
  const result = drain === null ? "complete" : (await ended(client, drain.id)).result;
  console.log(`${node}: ${result}`);
  if (result !== "complete") return false;
  // The place to restart the machine and to wait until its agent is back.
  await client.nodes.setAvailability.mutate({ node, target: "active", reason: "rolling restart" });
  return true;
}

// biome-ignore lint/style/noProcessEnv: the script is the whole program
const { LLMGW_ADMIN_URL: url = "http://127.0.0.1:7070", LLMGW_TOKEN: token } = process.env;
if (token === undefined) {
  console.error("LLMGW_TOKEN is not set: expected an operator token");
  process.exit(2);
}
const client = createLlmgwClient({ url, token });
const isDryRun = !process.argv.includes("--yes");
for (const { name, availability } of await client.nodes.list.query()) {
  if (availability !== "active") console.log(`${name}: ${availability}, left alone`);
  else if (!(await empty(client, name, isDryRun))) process.exit(1);
}
