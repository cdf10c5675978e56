"use client";

import { Search, X } from "lucide-react";
import { type ReactNode, useId } from "react";
import { capital } from "./capital.ts";
import type { Found } from "./use-find.ts";

interface FindBarProps<T> {
  readonly found: Found<T>;
  /** What is found: `nodes`. */
  readonly what: string;
  readonly children?: ReactNode;
}

/** The line above a table: words to look for, a state, on a phone the order, and how many rows pass. */
export function FindBar<T>({ found, what, children }: FindBarProps<T>) {
  const id = useId();
  const { text, state, states, rows, total, sorting, sortable } = found;
  const isKnown = state === "" || [...states.keys()].some((word) => word.toLowerCase() === state);
  const sort = sorting === null ? "" : `${sorting.descending ? "-" : ""}${sorting.column}`;
  return (
    <search className="panel-h" aria-label={`Find ${what}`}>
      <label className="field is-filter">
        <Search className="ic" aria-hidden />
        <span className="vh">Filter {what}</span>
        <input
          data-filter
          value={text}
          placeholder={`Filter ${what}`}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => found.setText(event.target.value)}
        />
        <kbd aria-hidden>/</kbd>
      </label>
      <label className="vh" htmlFor={`${id}-state`}>
        State
      </label>
      <select
        id={`${id}-state`}
        className="field"
        value={state}
        onChange={(event) => found.setState(event.target.value)}
      >
        <option value="">Any state</option>
        {!isKnown && <option value={state}>{capital(state)} (0)</option>}
        {[...states].map(([word, count]) => (
          <option key={word} value={word.toLowerCase()}>
            {word} ({count})
          </option>
        ))}
      </select>
      <span className="only-phone">
        <label className="vh" htmlFor={`${id}-sort`}>
          Order
        </label>
        <select
          id={`${id}-sort`}
          className="field"
          value={sort}
          onChange={(event) => found.setSort(event.target.value)}
        >
          <option value="">Usual order</option>
          {sortable.flatMap((column) => [
            <option key={column.id} value={column.id}>
              {column.head}, least first
            </option>,
            <option key={`-${column.id}`} value={`-${column.id}`}>
              {column.head}, most first
            </option>,
          ])}
        </select>
      </span>
      {(text !== "" || state !== "") && (
        <button type="button" className="btn is-quiet" onClick={found.clear}>
          <X className="ic" aria-hidden />
          Clear
        </button>
      )}
      {children}
      <span className="grow" />
      <span className="sm muted num" role="status">
        {rows.length === total ? `${total} ${what}` : `${rows.length} of ${total} ${what}`}
      </span>
    </search>
  );
}

/** In place of a table whose rows all were filtered away. */
export function NothingFound({ what, onClear }: { readonly what: string; readonly onClear: () => void }) {
  return (
    <div className="empty">
      <b>None of the {what} matches</b>
      <p>The filter above hides all of them.</p>
      <button type="button" className="btn" onClick={onClear}>
        Clear the filter
      </button>
    </div>
  );
}
