import type { ByteSpan } from "./body-scan.ts";
import { ascii } from "./event-line.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const OPTIONS = '"stream_options"';
const ASKED = '{"include_usage":true}';
const TRUE = "true";

/**
 * A body of a streamed chat or text completion with the wish to be told what the answer used; null where the client has that
 * wish already, or wrote something in its place that the engine has to judge. Only these bytes change. `body` must be a JSON
 * object that has been checked.
 */
export function withUsageAsked(body: Uint8Array): Uint8Array | null {
  const options = memberOf(body, body.indexOf(OPEN_OBJECT), OPTIONS);
  if (options === null) return inserted(body, body.indexOf(OPEN_OBJECT) + 1, `${OPTIONS}:${ASKED},`);
  if (textOf(body, options) === "null") return replaced(body, options, ASKED);
  if (body[options.start] !== OPEN_OBJECT) return null;
  const wish = memberOf(body, options.start, '"include_usage"');
  if (wish === null) {
    const isEmpty = textOf(body, options).slice(1, -1).trim() === "";
    return inserted(body, options.start + 1, `"include_usage":true${isEmpty ? "" : ","}`);
  }
  const given = textOf(body, wish);
  return given === "false" || given === "null" ? replaced(body, wish, TRUE) : null;
}

/** The value of an object's member; of the last one, which parsers go by, if there are several. `start`: the object's brace. */
function memberOf(bytes: Uint8Array, start: number, name: string): ByteSpan | null {
  let found: ByteSpan | null = null;
  let at = start + 1;
  while (at < bytes.length) {
    const keyStart = skipSpace(bytes, at);
    if (bytes[keyStart] === CLOSE_OBJECT) return found;
    const keyEnd = endOfString(bytes, keyStart);
    const valueStart = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1); // behind the colon
    const valueEnd = endOfValue(bytes, valueStart);
    if (keyEnd - keyStart === name.length && textOf(bytes, { start: keyStart, end: keyEnd }) === name) {
      found = { start: valueStart, end: valueEnd };
    }
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] !== COMMA) return found;
    at += 1;
  }
  return found;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while ((bytes[at] ?? COLON) <= 0x20) at += 1;
  return at;
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** Where a value ends: behind its last bracket or quote, or before what ends a number or a word. */
function endOfValue(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      if (depth === 0) return at;
      continue;
    }
    const isOpening = byte === OPEN_OBJECT || byte === 0x5b;
    const isClosing = byte === CLOSE_OBJECT || byte === 0x5d;
    if (depth === 0 && (isClosing || byte === COMMA || byte <= 0x20)) return at;
    if (isOpening) depth += 1;
    else if (isClosing) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
    at += 1;
  }
  return at;
}

/** Texts of JSON syntax are short and ASCII; anything else in a span does not matter to whoever asks. */
function textOf(bytes: Uint8Array, { start, end }: ByteSpan): string {
  return String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 4_096)));
}

function inserted(bytes: Uint8Array, at: number, text: string): Uint8Array {
  return replaced(bytes, { start: at, end: at }, text);
}

function replaced(bytes: Uint8Array, { start, end }: ByteSpan, text: string): Uint8Array {
  const part = ascii(text);
  const result = new Uint8Array(start + part.length + bytes.length - end);
  result.set(bytes.subarray(0, start));
  result.set(part, start);
  result.set(bytes.subarray(end), start + part.length);
  return result;
}
