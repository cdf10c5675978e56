"use client";

import { ChevronDown, ChevronRight } from "lucide-react";
import { Fragment, useState } from "react";
import { Time } from "../data/time.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { roles } from "../parts/table-roles.ts";
import { type StateWord, StatusBadge } from "../state/states.tsx";

/** A row of the history as it comes over the wire. */
export interface AuditRowData {
  readonly seq: number;
  readonly at: string;
  readonly actorKind: string;
  readonly actor: string;
  readonly role: string | null;
  readonly source: string | null;
  readonly verb: string;
  readonly target: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly reason: string | null;
  readonly outcome: "ok" | "denied" | "failed";
  readonly requestId: string | null;
  readonly cause: string | null;
}

const auditColumns = 6;

const outcomes: Readonly<Record<AuditRowData["outcome"], StateWord>> = {
  ok: { state: "healthy", word: "Ok" },
  denied: { state: "cordoned", word: "Denied" },
  failed: { state: "failed", word: "Failed" },
};

function Json({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <div className="min-w-0">
      <h3 className="xs faint mb-1!">{name}</h3>
      <pre className="json">{value === null || value === undefined ? "nothing" : JSON.stringify(value, null, 2)}</pre>
    </div>
  );
}

/** What caused a row: a drain is a page, any other cause is a word. */
function Cause({ cause }: { readonly cause: string }) {
  return cause.startsWith("drain_") ? <TextLink href={paths.drain(cause)}>its drain</TextLink> : <code>{cause}</code>;
}

export function AuditRow({ row }: { readonly row: AuditRowData }) {
  const [isOpen, setOpen] = useState(false);
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  return (
    <Fragment>
      <tr
        {...roles.row}
        className={`${isOpen ? "has-sub" : ""} ${row.outcome === "ok" ? "" : `is-alert s-${outcomes[row.outcome].state}`}`}
      >
        <th {...roles.rowHead} className="head is-long">
          <span className="inline-flex items-center gap-1.5">
            <button
              type="button"
              className="btn is-quiet is-s is-icon -ml-1.5!"
              aria-expanded={isOpen}
              aria-label={`Details of ${row.seq}`}
              onClick={() => setOpen(!isOpen)}
            >
              <Chevron className="ic ic-s" aria-hidden />
            </button>
            <Time at={row.at} />
          </span>
        </th>
        <td {...roles.cell} data-l="Who">
          {row.actor}
          <span className="sub">{row.role ?? row.actorKind}</span>
        </td>
        <td {...roles.cell} data-l="What">
          <code>{row.verb}</code>
        </td>
        <td {...roles.cell} data-l="Target" className="wrap-anywhere">
          {row.target}
        </td>
        <td {...roles.cell} className="nw top">
          <StatusBadge {...outcomes[row.outcome]} />
        </td>
        <td {...roles.cell} className="full wrap-anywhere">
          {row.reason ?? ""}{" "}
          {row.cause !== null && (
            <span className="muted">
              caused by <Cause cause={row.cause} />
            </span>
          )}
        </td>
      </tr>
      {isOpen && (
        <tr {...roles.row} className="is-sub">
          <td {...roles.cell} colSpan={auditColumns} className="full">
            <div className="grid gap-2 py-2">
              <div className="pair">
                <Json name="Before" value={row.before} />
                <Json name="After" value={row.after} />
              </div>
              <p className="xs faint">
                Entry {row.seq}
                {row.source !== null && `, from ${row.source}`}
                {row.requestId !== null && (
                  <>
                    , request <code>{row.requestId}</code>
                  </>
                )}
              </p>
            </div>
          </td>
        </tr>
      )}
    </Fragment>
  );
}
