/**
 * What a log's tail says that an earlier tail did not: the lines after the longest end of `before` that `now` begins
 * with. `missed` when the two have nothing in common, so that lines between them are gone.
 */
export function logNews(
  before: readonly string[],
  now: readonly string[],
): { readonly lines: readonly string[]; readonly missed: boolean } {
  for (let start = 0; start < before.length; start += 1) {
    const kept = before.length - start;
    if (kept <= now.length && before.slice(start).every((line, index) => now[index] === line)) {
      return { lines: now.slice(kept), missed: false };
    }
  }
  return { lines: now, missed: before.length > 0 && now.length > 0 };
}
