const LF = 0x0a;
const CR = 0x0d;

/** What an answer's event stream has shown so far. */
export interface StreamFacts {
  /** Data events with content; `[DONE]` and error events are none. */
  readonly contentEvents: number;
  /** `[DONE]`, or a finish reason: what came is a whole answer. */
  readonly isComplete: boolean;
  /** The engine's own error event, as its JSON text; null while there is none. */
  readonly errorEvent: Uint8Array | null;
}

/** A longer line is passed on as it comes, in pieces. */
const DEFAULT_MAX_HELD_BYTES = 1_048_576;

/**
 * Follows a server-sent event stream byte by byte without changing it. Only whole lines are let through; an unfinished one
 * is held back, so that whatever is said after a sudden end starts on a line of its own. Lines end with LF, CRLF or CR, in
 * any mixture, wherever the network cut them.
 */
export class EventStream {
  readonly #maxHeldBytes: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #isInsideLongLine = false;
  /** True at the start, and after a blank line: nothing half-said stands before what comes next. */
  #isAtEventStart = true;
  #endedWithCr = false;
  #contentEvents = 0;
  #isComplete = false;
  #errorEvent: Uint8Array | null = null;

  constructor(maxHeldBytes: number = DEFAULT_MAX_HELD_BYTES) {
    this.#maxHeldBytes = maxHeldBytes;
  }

  get facts(): StreamFacts {
    return { contentEvents: this.#contentEvents, isComplete: this.#isComplete, errorEvent: this.#errorEvent };
  }

  get contentEvents(): number {
    return this.#contentEvents;
  }

  /** True when something new can be said without running into an event that has begun. */
  get isAtEventStart(): boolean {
    return this.#isAtEventStart && !this.#isInsideLongLine;
  }

  /** Takes a chunk and answers the bytes that may go on to the client now, often the chunk itself; null for none. */
  push(chunk: Uint8Array): Uint8Array | null {
    const end = lastLineEnd(chunk);
    if (end === 0) return this.#hold(chunk);
    const whole = this.#heldBytes === 0 ? chunk.subarray(0, end) : this.#joined(chunk.subarray(0, end));
    this.#readLines(whole);
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    return whole;
  }

  /** The stream ended well: the held rest, if any, belongs to the answer. */
  flush(): Uint8Array | null {
    if (this.#heldBytes === 0) return null;
    const rest = this.#joined(new Uint8Array(0));
    this.#readLine(rest, 0, rest.length);
    return rest;
  }

  #hold(part: Uint8Array): Uint8Array | null {
    this.#held.push(part);
    this.#heldBytes += part.length;
    if (this.#heldBytes <= this.#maxHeldBytes) return null;
    this.#isInsideLongLine = true;
    this.#isAtEventStart = false;
    return this.#joined(new Uint8Array(0));
  }

  #joined(last: Uint8Array): Uint8Array {
    const joined = new Uint8Array(this.#heldBytes + last.length);
    let at = 0;
    for (const part of this.#held) {
      joined.set(part, at);
      at += part.length;
    }
    joined.set(last, at);
    this.#held = [];
    this.#heldBytes = 0;
    return joined;
  }

  #readLines(bytes: Uint8Array): void {
    const hasCr = bytes.indexOf(CR) !== -1;
    let start = this.#endedWithCr && bytes[0] === LF ? 1 : 0; // the second half of a CRLF that was cut
    while (start < bytes.length) {
      const end = hasCr ? nextLineEnd(bytes, start) : bytes.indexOf(LF, start);
      this.#readLine(bytes, start, end);
      start = bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
    }
    this.#endedWithCr = bytes[bytes.length - 1] === CR;
  }

  #readLine(bytes: Uint8Array, start: number, end: number): void {
    const isTailOfLongLine = this.#isInsideLongLine;
    this.#isInsideLongLine = false;
    this.#isAtEventStart = start === end && !isTailOfLongLine;
    if (this.#isAtEventStart || !startsWith(bytes, start, DATA)) {
      if (isTailOfLongLine) this.#contentEvents += 1;
      return;
    }
    const value = bytes[start + DATA.length] === 0x20 ? start + DATA.length + 1 : start + DATA.length;
    if (startsWith(bytes, value, DONE)) this.#isComplete = true;
    else if (startsWith(bytes, value, ERROR)) this.#errorEvent ??= bytes.slice(value, end);
    else if (value < end) {
      this.#contentEvents += 1;
      if (!this.#isComplete && hasFinishReason(bytes, value, end)) this.#isComplete = true;
    }
  }
}

const DATA = ascii("data:");
const DONE = ascii("[DONE]");
const ERROR = ascii('{"error"');
const BEFORE_UNDERSCORE = ascii('"finish');
const FROM_UNDERSCORE = ascii('_reason":');
const UNDERSCORE = 0x5f;

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function startsWith(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  if (at < 0) return false;
  for (let index = 0; index < word.length; index += 1) {
    if (bytes[at + index] !== word[index]) return false;
  }
  return true;
}

/**
 * True if a data line has a `"finish_reason":` that is not null. Inside a JSON string the quotes would be escaped, so text
 * that merely talks of it does not match. The underscore is rare: the native search for it skips nearly everything.
 */
function hasFinishReason(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = bytes.indexOf(UNDERSCORE, start); at !== -1 && at < end; at = bytes.indexOf(UNDERSCORE, at + 1)) {
    if (!startsWith(bytes, at, FROM_UNDERSCORE)) continue;
    if (!startsWith(bytes, at - BEFORE_UNDERSCORE.length, BEFORE_UNDERSCORE)) continue;
    let value = at + FROM_UNDERSCORE.length;
    while (bytes[value] === 0x20) value += 1;
    if (bytes[value] === 0x22) return true;
  }
  return false;
}

/** Where the last whole line of a chunk ends (exclusive); 0 if it holds no line end. */
function lastLineEnd(chunk: Uint8Array): number {
  const last = chunk[chunk.length - 1];
  if (last === LF || last === CR) return chunk.length;
  return Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1;
}

function nextLineEnd(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] === LF || bytes[at] === CR) return at;
  }
  return bytes.length;
}
