import type { LlmgwClient } from "../client.ts";
import type { AuditInput } from "../inputs.ts";
import type { AuditRow } from "./audit-row.ts";

type Filter = { readonly [Key in "actor" | "verb" | "target" | "cause" | "outcome"]?: AuditInput[Key] | undefined };

const pageRows = 500;

/** Every audit row that passes the filter, newest first, a page at a time. Ends early when the signal does, by throwing. */
export async function* eachAuditPage(
  client: Pick<LlmgwClient, "audit">,
  filter: Filter,
  signal?: AbortSignal,
): AsyncGenerator<readonly AuditRow[]> {
  let before: number | undefined;
  do {
    const { rows, nextBefore } = await client.audit.list.query(
      { limit: pageRows, before, ...filter },
      signal === undefined ? {} : { signal },
    );
    yield rows;
    before = nextBefore ?? undefined;
  } while (before !== undefined);
}
