"use client";

import type { AuditRow as Row } from "@llmgw/api";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { usePolling } from "../data/live.tsx";
import { useTRPC } from "../data/trpc.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PageHeader } from "../parts/page.tsx";
import { roles } from "../parts/table-roles.ts";
import { AuditExport } from "./audit-export.tsx";
import { AuditFilters, auditFilter, useAuditFilters, useAuditPlace } from "./audit-filters.tsx";
import { AuditRow } from "./audit-row.tsx";
import { AuditVerify } from "./audit-verify.tsx";

const pageRows = 100;

/** One page of the history. The newest one follows the cluster; older ones cannot change and stand still. */
function useHistory() {
  const trpc = useTRPC();
  const [filters] = useAuditFilters();
  const [{ before }] = useAuditPlace();
  const polling = usePolling(2000);
  return useQuery({
    ...trpc.audit.list.queryOptions({
      limit: pageRows,
      ...auditFilter(filters),
      ...(before === null ? {} : { before }),
    }),
    placeholderData: keepPreviousData,
    ...(before === null ? polling : {}),
  });
}

function AuditTable({ rows }: { readonly rows: readonly Row[] }) {
  const heads = ["Time", "Who", "What", "Target", "Outcome", "Why"];
  const [{ before, entry }, setPlace] = useAuditPlace();
  // An open entry keeps its page: newer rows must not push it away.
  const newest = rows[0]?.seq ?? 0;
  const toggle = (seq: number) =>
    void setPlace(entry === seq ? { entry: null } : { entry: seq, before: before ?? newest + 1 });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls sideways must be reachable by keyboard
    <section className="tw" aria-label="Audit, table" tabIndex={0}>
      <table {...roles.table} className="tb is-cards" aria-label="Audit">
        <thead {...roles.group}>
          <tr {...roles.row}>
            {heads.map((head) => (
              <th key={head} {...roles.head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...roles.group}>
          {rows.map((row) => (
            <AuditRow key={row.seq} row={row} isOpen={row.seq === entry} onToggle={() => toggle(row.seq)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Pager({ rows, nextBefore }: { readonly rows: readonly Row[]; readonly nextBefore: number | null }) {
  const [{ before }, setPlace] = useAuditPlace();
  return (
    <nav className="panel-f" aria-label="Pages of the history">
      <span className="num">
        {rows.length === 0 ? "No entry" : `Entries ${rows[0]?.seq} to ${rows.at(-1)?.seq}`},{" "}
        {before === null ? "the newest" : "standing still"}
      </span>
      <span className="grow" />
      <button
        type="button"
        className="btn is-s"
        disabled={before === null}
        onClick={() => void setPlace(null, { scroll: true })}
      >
        <ChevronLeft className="ic ic-s" aria-hidden />
        Newest
      </button>
      <button
        type="button"
        className="btn is-s"
        disabled={nextBefore === null}
        onClick={() => void setPlace({ before: nextBefore, entry: null }, { scroll: true })}
      >
        Older
        <ChevronRight className="ic ic-s" aria-hidden />
      </button>
    </nav>
  );
}

/** Who did what, newest first; denied and failed attempts too. */
export function Audit() {
  const query = useHistory();
  return (
    <>
      <PageHeader
        title="Audit"
        text="Who changed what, when and why. Attempts that were denied or failed are kept too; nothing here can be edited."
        actions={<AuditExport />}
      />
      <AuditVerify />
      <section className="panel" aria-label="History">
        <AuditFilters />
        <Loaded query={query} what="the history" rows={8}>
          {({ rows, nextBefore }) => (
            <>
              {rows.length === 0 ? (
                <Empty title="Nothing matches" command="npx llmgw ctl audit">
                  Every change of the cluster is written here. Clear the filters to see all of it.
                </Empty>
              ) : (
                <AuditTable rows={rows} />
              )}
              <Pager rows={rows} nextBefore={nextBefore} />
            </>
          )}
        </Loaded>
      </section>
    </>
  );
}
