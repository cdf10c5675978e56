"use client";

import { debounce, parseAsString, useQueryStates } from "nuqs";
import { useMemo } from "react";
import type { Column } from "../parts/data-table.tsx";
import { matches, nextSorting, parseSorting, type Searchable, type Sorting, sorted, stateCounts } from "./find.ts";

const inUrl = {
  q: parseAsString.withDefault(""),
  state: parseAsString.withDefault(""),
  sort: parseAsString.withDefault(""),
};

/** What is shown of a table, as the URL says, and how to ask for something else. */
export interface Found<T> {
  readonly rows: readonly T[];
  readonly total: number;
  readonly text: string;
  readonly state: string;
  readonly states: ReadonlyMap<string, number>;
  readonly sorting: Sorting | null;
  /** The columns that can be sorted by. */
  readonly sortable: readonly Pick<Column<T>, "id" | "head">[];
  setText(text: string): void;
  setState(state: string): void;
  /** What a click on the column's head does. */
  sortBy(column: string): void;
  setSort(sort: string): void;
  clear(): void;
}

/** Filters and sorts the rows of one table by what the URL says: `?q=h100&state=draining&sort=-memory`. */
export function useFind<T>(rows: readonly T[], columns: readonly Column<T>[], search: Searchable<T>): Found<T> {
  const [{ q, state, sort }, set] = useQueryStates(inUrl, { history: "replace" });
  const sorting = parseSorting(sort);
  const shown = useMemo(() => {
    const wanted = state.toLowerCase();
    const passing = rows.filter(
      (row) =>
        matches(q, search.texts(row)) &&
        (wanted === "" || search.states(row).some((word) => word.toLowerCase() === wanted)),
    );
    const order = parseSorting(sort);
    const key = columns.find((column) => column.id === order?.column)?.sort;
    return order === null || key === undefined ? passing : sorted(passing, key, order.descending);
  }, [rows, columns, search, q, state, sort]);
  const states = useMemo(() => stateCounts(rows, search.states), [rows, search]);
  return {
    rows: shown,
    total: rows.length,
    text: q,
    state,
    states,
    sorting,
    sortable: columns.filter((column) => column.sort !== undefined),
    setText: (text) => void set({ q: text === "" ? null : text }, { limitUrlUpdates: debounce(300) }),
    setState: (word) => void set({ state: word === "" ? null : word.toLowerCase() }),
    sortBy: (column) => void set({ sort: nextSorting(sorting, column) }),
    setSort: (value) => void set({ sort: value === "" ? null : value }),
    clear: () => void set({ q: null, state: null }),
  };
}
