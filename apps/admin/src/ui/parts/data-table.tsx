import { Fragment, type ReactNode } from "react";
import type { StateName } from "../state/states.tsx";

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
}

interface DataTableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  readonly alert?: (row: T) => StateName | null;
  /** A second line over the whole row. */
  readonly sub?: (row: T) => ReactNode;
}

/** A table that is a list of cards on a phone. The roles are written out because `display: grid` would take them away. */
export function DataTable<T>({ label, columns, rows, rowKey, alert, sub }: DataTableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls sideways must be reachable by keyboard
    <section className="tw" aria-label={label} tabIndex={0}>
      {/* biome-ignore lint/a11y/noRedundantRoles: display: grid on a phone takes the implied role away */}
      <table role="table" className="tb is-cards" aria-label={label}>
        {/* biome-ignore lint/a11y/noRedundantRoles: as above */}
        <thead role="rowgroup">
          {/* biome-ignore lint/a11y/noRedundantRoles: as above */}
          <tr role="row">
            {columns.map((column) => (
              // biome-ignore lint/a11y/noRedundantRoles: as above
              <th key={column.id} role="columnheader" scope="col" className={placed(column.className)}>
                {column.silent === true ? <span className="vh">{column.head}</span> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/noRedundantRoles: as above */}
        <tbody role="rowgroup">
          {rows.map((row) => (
            <Row key={rowKey(row)} row={row} columns={columns} state={alert?.(row) ?? null} sub={sub?.(row) ?? null} />
          ))}
        </tbody>
      </table>
    </section>
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
      {/* biome-ignore lint/a11y/noRedundantRoles: display: grid on a phone takes the implied role away */}
      <tr role="row" className={`${edge} ${sub === null ? "" : "has-sub"}`}>
        {columns.map((column) =>
          column.rowHeader === true ? (
            // biome-ignore lint/a11y/noRedundantRoles: as above
            <th key={column.id} role="rowheader" scope="row" className={column.className}>
              {column.cell(row)}
            </th>
          ) : (
            // biome-ignore lint/a11y/noRedundantRoles: as above
            <td key={column.id} role="cell" className={column.className} data-l={column.card}>
              {column.cell(row)}
            </td>
          ),
        )}
      </tr>
      {sub !== null && (
        // biome-ignore lint/a11y/noRedundantRoles: as above
        <tr role="row" className={`is-sub ${edge}`}>
          {/* biome-ignore lint/a11y/noRedundantRoles: as above */}
          <td role="cell" colSpan={columns.length} className="full">
            {sub}
          </td>
        </tr>
      )}
    </Fragment>
  );
}
