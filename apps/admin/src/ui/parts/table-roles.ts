/**
 * The roles of a table's elements, written out: on a phone rows become cards by `display: grid`, which takes the roles
 * that the elements imply away.
 */
export const roles = {
  table: { role: "table" },
  group: { role: "rowgroup" },
  row: { role: "row" },
  head: { role: "columnheader", scope: "col" },
  rowHead: { role: "rowheader", scope: "row" },
  cell: { role: "cell" },
} as const;
