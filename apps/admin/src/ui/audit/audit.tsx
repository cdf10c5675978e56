"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import { usePolling } from "../data/live.tsx";
import { useTRPC, useTRPCClient } from "../data/trpc.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PageHeader } from "../parts/page.tsx";
import { roles } from "../parts/table-roles.ts";
import { AuditFilters, useAuditFilters } from "./audit-filters.tsx";
import { AuditRow, type AuditRowData } from "./audit-row.tsx";

const pageRows = 50;

/** The history by its filters. It follows the cluster while only the newest page is open; older pages stand still. */
function useHistory() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const [{ actor, verb, target, cause, outcome }] = useAuditFilters();
  const { refetchInterval } = usePolling(2000);
  const filter = {
    limit: pageRows,
    ...(actor === "" ? {} : { actor }),
    ...(verb === "" ? {} : { verb }),
    ...(target === "" ? {} : { target }),
    ...(cause === "" ? {} : { cause }),
    ...(outcome === null ? {} : { outcome }),
  };
  return useInfiniteQuery({
    queryKey: [...trpc.audit.pathKey(), "history", filter],
    queryFn: ({ pageParam, signal }) =>
      client.audit.list.query({ ...filter, ...(pageParam === null ? {} : { before: pageParam }) }, { signal }),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.nextBefore,
    placeholderData: (before) => before,
    refetchOnWindowFocus: false,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) > 1 ? false : refetchInterval),
  });
}

function AuditTable({ rows }: { readonly rows: readonly AuditRowData[] }) {
  const heads = ["Time", "Who", "What", "Target", "Outcome", "Why"];
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
            <AuditRow key={row.seq} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Who did what, newest first; denied and failed attempts too. */
export function Audit() {
  const query = useHistory();
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  return (
    <>
      <PageHeader
        title="Audit"
        text="Who changed what, when and why. Attempts that were denied or failed are kept too; nothing here can be edited."
      />
      <section className="panel" aria-label="History">
        <AuditFilters />
        <Loaded query={query} what="the history" rows={8}>
          {({ pages }) => {
            const rows = pages.flatMap((page) => page.rows);
            if (rows.length === 0) {
              return (
                <Empty title="Nothing matches" command="npx llmgw ctl audit">
                  Every change of the cluster is written here. Clear the filters to see all of it.
                </Empty>
              );
            }
            return (
              <>
                <AuditTable rows={rows} />
                <div className="panel-f">
                  <span>
                    {rows.length} shown,{" "}
                    {pages.length === 1 ? "live" : "older pages stand still; reload for the newest"}
                  </span>
                  <span className="grow" />
                  <button
                    type="button"
                    className="btn is-s"
                    disabled={!hasNextPage || isFetchingNextPage}
                    onClick={() => void fetchNextPage()}
                  >
                    {hasNextPage ? "Load older" : "That is all"}
                  </button>
                </div>
              </>
            );
          }}
        </Loaded>
      </section>
    </>
  );
}
