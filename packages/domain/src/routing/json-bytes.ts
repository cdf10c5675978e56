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

/** True for a byte that cannot be part of a number or a literal. */
export function endsScalar(byte: number): boolean {
  return byte === 0x2c || byte === 0x5d || byte === 0x7d || byte <= 0x20;
}

/** true, false or null; undefined for anything else. */
export function literal(bytes: Uint8Array, { start, end }: { start: number; end: number }): boolean | null | undefined {
  const is = (word: string) => {
    if (end - start !== word.length) return false;
    for (let index = 0; index < word.length; index += 1) {
      if (bytes[start + index] !== word.charCodeAt(index)) return false;
    }
    return true;
  };
  if (is("true")) return true;
  if (is("false")) return false;
  return is("null") ? null : undefined;
}

/** Length of the escape that starts at a backslash: 2, 6 for a \u one, 0 for none that JSON knows. */
export function escapeLength(bytes: Uint8Array, position: number): number {
  const kind = bytes[position + 1] ?? 0;
  if (kind !== 0x75) return '"\\/bfnrt'.includes(String.fromCharCode(kind)) && kind !== 0 ? 2 : 0;
  for (let index = position + 2; index < position + 6; index += 1) {
    const byte = bytes[index] ?? 0;
    const isHex = (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
    if (!isHex) return 0;
  }
  return 6;
}

/**
 * Where the first byte from `start` on stands that is not plain text of a string (a quote, a backslash, a control character);
 * `stopAt` if there is none before it. Prompts and images are long, and nearly all of their bytes are plain, so four are looked
 * at together: in each of the sums below a byte's highest bit is set if the byte is below 0x20, or is the one searched for.
 * A carry may set it for a neighbour too, never for none, and then each byte is looked at by itself.
 */
export function endOfPlainText(view: DataView, start: number, stopAt: number): number {
  let at = start;
  for (; at + 4 <= stopAt; at += 4) {
    const word = view.getInt32(at);
    const quote = word ^ 0x22222222;
    const backslash = word ^ 0x5c5c5c5c;
    const control = (word - 0x20202020) & ~word;
    const found = control | ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash);
    if ((found & 0x80808080) !== 0 && endsWithin(view, at)) break;
  }
  while (at < stopAt && !isSpecial(view.getUint8(at))) at += 1;
  return at;
}

function endsWithin(view: DataView, at: number): boolean {
  return [0, 1, 2, 3].some((index) => isSpecial(view.getUint8(at + index)));
}

function isSpecial(byte: number): boolean {
  return byte < 0x20 || byte === 0x22 || byte === 0x5c;
}
