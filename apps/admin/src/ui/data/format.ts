const noBreak = "\u00a0";

/** MiB as GiB with one decimal: `71.7 GiB`. */
export function gib(mib: number): string {
  return `${gibNumber(mib)}${noBreak}GiB`;
}

export function gibNumber(mib: number): string {
  return (mib / 1024).toFixed(1);
}

/** `1 GPU`, `3 GPUs`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count}${noBreak}${count === 1 ? one : many}`;
}

/** A duration in its two largest units: `850 ms`, `3.4 s`, `12 min 58 s`, `2 h 5 min`, `12 d 3 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joined([minutes, "min"], [seconds % 60, "s"]);
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return joined([hours, "h"], [minutes % 60, "min"]);
  return joined([Math.floor(hours / 24), "d"], [hours % 24, "h"]);
}

function joined(large: readonly [number, string], small: readonly [number, string]): string {
  return small[0] === 0 ? `${large[0]} ${large[1]}` : `${large[0]} ${large[1]} ${small[0]} ${small[1]}`;
}

/** A countdown: `47:02`, `1:05:00`; `0:00` when it is over. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** `14:25:08` of an RFC 3339 UTC string. */
export function clock(iso: string): string {
  return iso.slice(11, 19);
}

/** `11-30 14:25:08`, without the date when it is today's (`nowMs`). */
export function dayAndClock(iso: string, nowMs: number): string {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  return iso.startsWith(today) ? clock(iso) : `${iso.slice(5, 10)} ${clock(iso)}`;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `1h30m`, `45s`, `2d`; null when it is not a duration. A number without a unit is refused: of what? */
export function parseDuration(text: string): number | null {
  const compact = text.replaceAll(/\s+/g, "").toLowerCase().replaceAll("min", "m");
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(compact)) return null;
  let total = 0;
  for (const [, amount, unit] of compact.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (unitMs[unit ?? ""] ?? 0);
  }
  return Math.round(total);
}
