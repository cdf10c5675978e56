/** Keys longer than this are not the ones anybody looks for, whatever their escapes. */
const MAX_KEY_BYTES = 64;

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/**
 * The text of a short JSON string given with its quotes, its escapes resolved; undefined for a long one. Bytes beyond
 * ASCII come out one character a byte: good enough to compare with an ASCII name.
 */
export function keyText(bytes: Uint8Array, { start, end }: { start: number; end: number }): string | undefined {
  if (end - start > MAX_KEY_BYTES) return undefined;
  const raw = String.fromCharCode(...bytes.subarray(start + 1, end - 1));
  if (!raw.includes("\\")) return raw;
  return raw.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_match, hex: string | undefined, letter: string) =>
    hex === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** True if bytes `start` to `end` are a number by RFC 8259, section 6. */
export function isJsonNumber(bytes: Uint8Array, start: number, end: number): boolean {
  let position = start;
  const at = () => (position < end ? (bytes[position] ?? 0) : 0);
  const digits = () => {
    const first = position;
    while (at() >= 0x30 && at() <= 0x39) position += 1;
    return position > first;
  };
  if (at() === 0x2d) position += 1;
  if (at() === 0x30) position += 1;
  else if (!digits()) return false;
  if (at() === 0x2e) {
    position += 1;
    if (!digits()) return false;
  }
  if (at() === 0x65 || at() === 0x45) {
    position += 1;
    if (at() === 0x2b || at() === 0x2d) position += 1;
    if (!digits()) return false;
  }
  return position === end;
}
