/** Longest unit first: the order in which a duration is written. */
const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
];

const PATTERN = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;

/**
 * Reads a duration as people write it: a whole number of milliseconds ("1500"), or whole numbers with the units d, h,
 * m, s, ms, longest first ("500ms", "30s", "1h30m"). Answers milliseconds, or undefined for anything else.
 */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (/^\d+$/.test(trimmed)) return safe(Number(trimmed));
  const match = PATTERN.exec(trimmed);
  if (match === null) return undefined;
  return safe(UNITS.reduce((sum, [, unitMs], index) => sum + Number(match[index + 1] ?? 0) * unitMs, 0));
}

/** Writes milliseconds so that `parseDuration` reads back the same (rounded to whole ones): 5400000 → "1h30m". */
export function formatDuration(ms: number): string {
  let leftMs = Math.round(Math.abs(ms));
  if (leftMs === 0) return "0s";
  let text = ms < 0 ? "-" : "";
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(leftMs / unitMs);
    leftMs -= count * unitMs;
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}

function safe(ms: number): number | undefined {
  return Number.isSafeInteger(ms) ? ms : undefined;
}
