"use client";

import { RotateCw } from "lucide-react";
import { type ReactNode, useState } from "react";
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
  // A query that never had an answer forgets its error while it asks again; the page keeps it until there is news.
  const [failed, setFailed] = useState<{ readonly what: string; readonly error: unknown } | null>(null);
  if (query.error !== null && query.error !== failed?.error) setFailed({ what, error: query.error });
  if (query.data === undefined) {
    const error = query.error ?? (failed?.what === what ? failed.error : null);
    return error === null ? <Skeleton rows={rows} what={what} /> : <Failure query={query} error={error} what={what} />;
  }
  if (query.error === null) return <>{children(query.data)}</>;
  return (
    <>
      <Failure query={query} error={query.error} what={what} />
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

interface FailureProps<T> {
  readonly query: Asked<T>;
  readonly error: unknown;
  readonly what: string;
}

function Failure<T>({ query, error, what }: FailureProps<T>) {
  const now = useNow();
  const { message, requestId } = errorFacts(error);
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
