/** A text's UTF-8 bytes, for code that reads bytes. The text must not hold half a surrogate pair. */
export function utf8(text: string): Uint8Array {
  const escaped = encodeURIComponent(text);
  const bytes: number[] = [];
  for (let at = 0; at < escaped.length; at += 1) {
    if (escaped[at] !== "%") bytes.push(escaped.charCodeAt(at));
    else {
      bytes.push(Number.parseInt(escaped.slice(at + 1, at + 3), 16));
      at += 2;
    }
  }
  return Uint8Array.from(bytes);
}

/** The text of UTF-8 bytes; throws on bytes that are none. */
export function textOf(bytes: Uint8Array): string {
  return decodeURIComponent(Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""));
}
