"use client";

import { RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { errorFacts } from "../data/error-facts.ts";
import { clock, duration } from "../data/format.ts";
import { useAheadMs, useNow } from "../data/live.tsx";
import { StateIcon } from "../state/states.tsx";

/** The part of a React Query result that a panel needs. */
interface Asked<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly dataUpdatedAt: number;
  readonly isFetching: boolean;
  refetch(): unknown;
}

interface LoadedProps<T> {
  readonly query: Asked<T>;
  /** What is being read, for the error: `the nodes`. */
  readonly what: string;
  readonly rows?: number;
  readonly children: (data: T) => ReactNode;
}

/**
 * Shows what a query answered. Before the first answer a skeleton; after a failed one the last good values, greyed, with
 * their age; with nothing to show the error. One panel's failure never takes another panel away.
 */
export function Loaded<T>({ query, what, rows = 4, children }: LoadedProps<T>) {
  if (query.data === undefined) {
    return query.error === null ? <Skeleton rows={rows} what={what} /> : <Failure query={query} what={what} />;
  }
  if (query.error === null) return <>{children(query.data)}</>;
  return (
    <>
      <Failure query={query} what={what} />
      <div className="is-old contents">{children(query.data)}</div>
    </>
  );
}

function Skeleton({ rows, what }: { readonly rows: number; readonly what: string }) {
  return (
    <div className="skel" role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike and never change places
        <i key={row} />
      ))}
    </div>
  );
}

function Failure<T>({ query, what }: { readonly query: Asked<T>; readonly what: string }) {
  const now = useNow();
  const { message, requestId } = errorFacts(query.error);
  const aheadMs = useAheadMs();
  // When the last good answer came, on the cluster's clock; 0 when none came.
  const at = query.dataUpdatedAt === 0 ? 0 : query.dataUpdatedAt + aheadMs;
  return (
    <div className="panel-b" role="alert">
      <div className="notice s-failed">
        <StateIcon state="failed" size="ic-l" />
        <div>
          <p>
            <b>Could not read {what}.</b> {message}
          </p>
          <p className="muted">
            {at > 0 && (
              <>
                Values below are of {clock(new Date(at).toISOString())} UTC, {duration(now - at)} old.{" "}
              </>
            )}
            {requestId !== null && (
              <>
                Request <code>{requestId}</code>
              </>
            )}
          </p>
        </div>
        <button type="button" className="btn is-s" disabled={query.isFetching} onClick={() => query.refetch()}>
          <RotateCw className="ic" aria-hidden />
          Retry
        </button>
      </div>
    </div>
  );
}

/** A failed action, where it was asked for. */
export function ActionError({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  const { message, requestId } = errorFacts(error);
  return (
    <div className="notice s-failed" role="alert">
      <StateIcon state="failed" size="ic-l" />
      <div>
        <p>{message}</p>
        {requestId !== null && (
          <p className="muted">
            Request <code>{requestId}</code>
          </p>
        )}
      </div>
    </div>
  );
}
