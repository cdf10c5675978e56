import type { Logger } from "@llmgw/service";
import type { ClusterIdentity } from "../../db/cluster-row.ts";
import type { VersionWatch } from "./versions.ts";

export type Meeting = { readonly kind: "known" } | { readonly kind: "foreign"; readonly message: string };

/**
 * Looks at what a reporter says it has applied. One of another cluster is refused: nothing of it may be believed or
 * changed. One that is ahead of this database (which was restored or is empty) makes every admin hold: nothing is
 * stopped and no table is sent until an operator adopts what runs.
 */
export async function meetReporter(
  reporter: { readonly clusterId: string | null; readonly appliedVersion: number },
  context: {
    readonly name: string;
    readonly cluster: ClusterIdentity;
    readonly versions: VersionWatch;
    readonly rememberReported: (version: number) => Promise<void>;
    readonly log: Logger;
  },
): Promise<Meeting> {
  const { name, cluster, versions, rememberReported, log } = context;
  if (reporter.clusterId !== null && reporter.clusterId !== cluster.id) {
    return {
      kind: "foreign",
      message: `${name} belongs to cluster ${reporter.clusterId}; this admin runs ${cluster.id}. It keeps what it has. Point it at its own admin, or remove its data folder to have it join this one.`,
    };
  }
  if (reporter.appliedVersion <= versions.version || reporter.appliedVersion <= versions.reported) {
    return { kind: "known" };
  }
  await versions.refresh(); // another admin may have committed it a moment ago
  if (reporter.appliedVersion > versions.version && versions.reachable) {
    log.error(
      { reporter: name, appliedVersion: reporter.appliedVersion, version: versions.version },
      "HOLDING: this database is older than what runs. Nothing is stopped and no table is sent until `llmgw admin adopt`",
    );
    await rememberReported(reporter.appliedVersion);
    await versions.refresh();
  }
  return { kind: "known" };
}
