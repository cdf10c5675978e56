const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const UNDERSCORE = 0x5f;
const OPEN_BRACE = 0x7b;

/** Names of events (`event:` line or the `type` that their JSON begins with) that mean something to a router. */
export const eventNames = {
  /** The whole answer has been given. */
  last: new Set([
    "message_stop",
    "response.completed",
    "response.incomplete",
    "transcript.text.done",
    "speech.audio.done",
    "image_generation.completed",
  ]),
  error: new Set(["error", "response.failed"]),
  /** Sent before anything has been generated, or to keep the connection alive. */
  silent: new Set([
    "ping",
    "keepalive",
    "message_start",
    "response.created",
    "response.queued",
    "response.in_progress",
  ]),
} as const;

/** What a data line's value shows, as bits. */
export const dataBits = { done: 1, finished: 2, usage: 4, error: 8, silent: 16 } as const;

const DONE = ascii("[DONE]");
const ERROR = ascii('{"error"');
const TYPE = ascii('{"type":');
const FINISH = ascii('"finish');
const REASON = ascii('_reason":');
const TOKENS = ascii('_tokens":');

/** Where the value of a line's field starts (after the colon and one blank); -1 if the line has another field. */
export function fieldValue(bytes: Uint8Array, start: number, field: Uint8Array): number {
  if (!startsWith(bytes, start, field)) return -1;
  const value = start + field.length;
  return bytes[value] === SPACE ? value + 1 : value;
}

/** Bits of `dataBits` for the value of a data line, bytes `start` to `end`. */
export function readDataValue(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== OPEN_BRACE) return startsWith(bytes, start, DONE) ? dataBits.done : 0;
  let bits = startsWith(bytes, start, ERROR) ? dataBits.error : 0;
  if (startsWith(bytes, start, TYPE)) bits |= typeBits(bytes, start + TYPE.length, end);
  // The underscore is rare: the native search for it skips nearly everything. Inside a JSON string quotes would be escaped,
  // so a text that merely talks of these names does not match.
  for (let at = bytes.indexOf(UNDERSCORE, start); at !== -1 && at < end; at = bytes.indexOf(UNDERSCORE, at + 1)) {
    const next = bytes[at + 1];
    if (next === 0x72) {
      if (isFinishReason(bytes, at)) bits |= dataBits.finished;
    } else if (next === 0x74 && startsWith(bytes, at, TOKENS)) bits |= dataBits.usage;
  }
  return bits;
}

/** Where the line that starts at `start` ends: the place of its CR or LF. */
export function endOfLine(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] === LF || bytes[at] === CR) return at;
  }
  return bytes.length;
}

export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The bytes as text, one character a byte; at most 64 of them. */
export function shortText(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 64)));
}

/** True for a `"finish_reason":` that is not null, whose underscore stands at `at`. */
function isFinishReason(bytes: Uint8Array, at: number): boolean {
  if (!startsWith(bytes, at, REASON) || !startsWith(bytes, at - FINISH.length, FINISH)) return false;
  let value = at + REASON.length;
  while (bytes[value] === SPACE) value += 1;
  return bytes[value] === QUOTE;
}

function typeBits(bytes: Uint8Array, afterColon: number, end: number): number {
  const quote = bytes[afterColon] === SPACE ? afterColon + 1 : afterColon;
  if (bytes[quote] !== QUOTE) return 0;
  const close = bytes.indexOf(QUOTE, quote + 1);
  if (close === -1 || close > end) return 0;
  const name = shortText(bytes, quote + 1, close);
  if (eventNames.last.has(name)) return dataBits.finished;
  if (eventNames.error.has(name)) return dataBits.error;
  return eventNames.silent.has(name) ? dataBits.silent : 0;
}

function startsWith(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  if (at < 0) return false;
  for (let index = 0; index < word.length; index += 1) {
    if (bytes[at + index] !== word[index]) return false;
  }
  return true;
}
