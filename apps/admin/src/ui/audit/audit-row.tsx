"use client";

import type { AuditRow as Row } from "@llmgw/api";
import { ChevronDown, ChevronRight } from "lucide-react";
import { Fragment } from "react";
import { Time } from "../data/time.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { roles } from "../parts/table-roles.ts";
import { type StateWord, StatusBadge } from "../state/states.tsx";
import { differences } from "./diff.ts";

const auditColumns = 6;

const outcomes: Readonly<Record<Row["outcome"], StateWord>> = {
  ok: { state: "healthy", word: "Ok" },
  denied: { state: "cordoned", word: "Denied" },
  failed: { state: "failed", word: "Failed" },
};

function worded(value: unknown): string {
  return value === null ? "–" : typeof value === "string" ? value : JSON.stringify(value);
}

/** What the row changed, place by place. */
function Change({ row }: { readonly row: Row }) {
  const changed = differences(row.before, row.after);
  if (changed.length === 0) {
    return (
      <p className="sm muted">{row.before === null ? "It changed no record." : "Before and after are the same."}</p>
    );
  }
  return (
    <table className="diff" aria-label={`What entry ${row.seq} changed`}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {changed.map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row">
              <code>{path === "" ? "value" : path}</code>
            </th>
            <td>{before === null ? worded(before) : <del>{worded(before)}</del>}</td>
            <td>{after === null ? worded(after) : <ins>{worded(after)}</ins>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What caused a row: a drain is a page, any other cause is a word. */
function Cause({ cause }: { readonly cause: string }) {
  return cause.startsWith("drain_") ? <TextLink href={paths.drain(cause)}>its drain</TextLink> : <code>{cause}</code>;
}

interface AuditRowProps {
  readonly row: Row;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

export function AuditRow({ row, isOpen, onToggle }: AuditRowProps) {
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
              onClick={onToggle}
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
              <Change row={row} />
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
