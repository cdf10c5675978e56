import { ArrowDown, ArrowUp, ChevronsUpDown } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import type { Sorting } from "../find/find.ts";
import type { StateName } from "../state/states.tsx";
import { roles } from "./table-roles.ts";

/**
 * A column. Classes place it: `head` the row's name, `top` its state (beside the name on a phone), `full` a whole line
 * on a phone, `r` numbers, `lo`/`lo2` steps aside on narrow screens, `off` is left out on a phone.
 */
export interface Column<T> {
  readonly id: string;
  readonly head: string;
  /** The head is for screen readers only. */
  readonly silent?: boolean;
  readonly className?: string;
  readonly rowHeader?: boolean;
  /** Shown above the value when the row is a card on a phone. */
  readonly card?: string;
  readonly cell: (row: T) => ReactNode;
  /** What the rows are put in order by when this column is chosen; a column without it is not offered. */
  readonly sort?: (row: T) => number | string;
}

interface SortControl {
  readonly sorting: Sorting | null;
  sortBy(column: string): void;
}

interface DataTableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  readonly alert?: (row: T) => StateName | null;
  /** A second line over the whole row. */
  readonly sub?: (row: T) => ReactNode;
  /** Lets the heads of sortable columns be clicked. The rows come in order already. */
  readonly sort?: SortControl;
}

/** A table that is a list of cards on a phone. The roles are written out because `display: grid` would take them away. */
export function DataTable<T>({ label, columns, rows, rowKey, alert, sub, sort }: DataTableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls sideways must be reachable by keyboard
    <section className="tw" aria-label={`${label}, table`} tabIndex={0}>
      <table {...roles.table} className="tb is-cards" aria-label={label}>
        <thead {...roles.group}>
          <tr {...roles.row}>
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody {...roles.group}>
          {rows.map((row) => (
            <Row key={rowKey(row)} row={row} columns={columns} state={alert?.(row) ?? null} sub={sub?.(row) ?? null} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface HeadProps<T> {
  readonly column: Column<T>;
  readonly sort: SortControl | undefined;
}

function Head<T>({ column, sort }: HeadProps<T>) {
  if (sort === undefined || column.sort === undefined) {
    return (
      <th {...roles.head} className={placed(column.className)}>
        {column.silent === true ? <span className="vh">{column.head}</span> : column.head}
      </th>
    );
  }
  const { sorting } = sort;
  const order = sorting?.column !== column.id ? "none" : sorting.descending ? "descending" : "ascending";
  const Icon = { none: ChevronsUpDown, ascending: ArrowUp, descending: ArrowDown }[order];
  return (
    <th {...roles.head} className={placed(column.className)} aria-sort={order}>
      <button
        type="button"
        className={`sorter ${order === "none" ? "" : "is-on"}`}
        onClick={() => sort.sortBy(column.id)}
      >
        {column.head}
        <Icon className="ic ic-s" aria-hidden />
      </button>
    </th>
  );
}

/** The head keeps only what a column's class says about its place, not what is for its cells. */
function placed(className = ""): string {
  return className
    .split(" ")
    .filter((name) => name === "r" || name === "lo" || name === "lo2")
    .join(" ");
}

interface RowProps<T> {
  readonly row: T;
  readonly columns: readonly Column<T>[];
  readonly state: StateName | null;
  readonly sub: ReactNode;
}

function Row<T>({ row, columns, state, sub }: RowProps<T>) {
  const edge = state === null ? "" : `is-alert s-${state}`;
  return (
    <Fragment>
      <tr {...roles.row} className={`${edge} ${sub === null ? "" : "has-sub"}`}>
        {columns.map((column) =>
          column.rowHeader === true ? (
            <th key={column.id} {...roles.rowHead} className={column.className}>
              {column.cell(row)}
            </th>
          ) : (
            <td key={column.id} {...roles.cell} className={column.className} data-l={column.card}>
              {column.cell(row)}
            </td>
          ),
        )}
      </tr>
      {sub !== null && (
        <tr {...roles.row} className={`is-sub ${edge}`}>
          <td {...roles.cell} colSpan={columns.length} className="full">
            {sub}
          </td>
        </tr>
      )}
    </Fragment>
  );
}
