import { ascii, dataBits, endOfLine, eventNames, fieldValue, readDataValue, shortText } from "./event-line.ts";

/** What an answer's event stream has shown so far. */
export interface StreamFacts {
  /** Data events with content; `[DONE]`, pings, announcements and error events are none. */
  readonly contentEvents: number;
  /** `[DONE]`, a finish reason or the dialect's last event: what came is a whole answer. */
  readonly isComplete: boolean;
  /** The engine's own error event, as its JSON text; null while there is none. */
  readonly errorEvent: Uint8Array | null;
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const DATA = ascii("data:");
const EVENT = ascii("event:");
const EMPTY = new Uint8Array(0);

/** A longer event is passed on as it comes, in pieces. */
const DEFAULT_MAX_HELD_BYTES = 1_048_576;

/**
 * Follows a server-sent event stream (HTML standard, section 9.2) byte by byte without changing it. Only whole events are let
 * through; an unfinished one is held back, so that whatever is said after a sudden end stands on its own and nothing half-said
 * is taken for an event. Lines end with LF, CRLF or CR, in any mixture, wherever the network cut them. It understands the
 * streams of OpenAI's chat and responses APIs and of Anthropic's messages.
 */
export class EventStream {
  readonly #maxHeldBytes: number;
  /** Whole lines of an event that has not ended, and behind them the line that has not. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** How many of the held bytes have been read: they are whole lines. */
  #readBytes = 0;
  /** A piece of the current event has been let through already. */
  #isInsideLongEvent = false;
  /** The line that is being read began in a piece that was let through. */
  #isInsideLongLine = false;
  #isAtEventStart = true;
  #endedWithCr = false;
  #eventName: string | null = null;
  #contentEvents = 0;
  #dataLines = 0;
  #isComplete = false;
  #errorEvent: Uint8Array | null = null;
  #firstUsage: Uint8Array | null = null;
  #lastUsage: Uint8Array | null = null;

  constructor(maxHeldBytes: number = DEFAULT_MAX_HELD_BYTES) {
    this.#maxHeldBytes = maxHeldBytes;
  }

  get facts(): StreamFacts {
    return { contentEvents: this.#contentEvents, isComplete: this.#isComplete, errorEvent: this.#errorEvent };
  }

  get contentEvents(): number {
    return this.#contentEvents;
  }

  /** Data lines of any kind. */
  get dataLines(): number {
    return this.#dataLines;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** JSON texts of the first and the last event that told of tokens used, in order; Anthropic's tells them in two parts. */
  get usageEvents(): readonly Uint8Array[] {
    return [this.#firstUsage, this.#lastUsage].filter((found) => found !== null);
  }

  /** False while a piece of an event has been let through and its end has not. */
  get isBetweenEvents(): boolean {
    return !this.#isInsideLongEvent;
  }

  /** Takes a chunk and answers the bytes that may go on to the client now, often the chunk itself; null for none. */
  push(chunk: Uint8Array): Uint8Array | null {
    const linesEnd = lastLineEnd(chunk);
    if (linesEnd === 0) return this.#hold(chunk);
    const skipped = this.#readBytes;
    const all = this.#heldBytes === 0 ? chunk : this.#joined(chunk);
    const end = all.length - (chunk.length - linesEnd);
    const eventEnd = this.#readLines(all, skipped, end);
    if (eventEnd === 0) {
      this.#readBytes = end;
      return this.#hold(all);
    }
    this.#isInsideLongEvent = false;
    this.#readBytes = end - eventEnd;
    if (eventEnd === all.length) return all;
    return this.#holdBehind(all, eventEnd);
  }

  /** The stream ended well: the held rest, if any, belongs to the answer. */
  flush(): Uint8Array | null {
    if (this.#heldBytes === 0) return null;
    const read = this.#readBytes;
    const rest = this.#joined(EMPTY);
    if (read < rest.length) this.#readLine(rest, read, rest.length);
    return rest;
  }

  #hold(part: Uint8Array): Uint8Array | null {
    this.#held.push(part);
    this.#heldBytes += part.length;
    return this.#heldBytes <= this.#maxHeldBytes ? null : this.#letThrough();
  }

  #holdBehind(all: Uint8Array, eventEnd: number): Uint8Array {
    const rest = this.#hold(all.subarray(eventEnd));
    if (rest === null) return all.subarray(0, eventEnd);
    return all; // the next event is over the limit already
  }

  /** The event is too long to hold: it goes on in pieces. */
  #letThrough(): Uint8Array {
    this.#isInsideLongEvent = true;
    this.#isInsideLongLine = this.#readBytes < this.#heldBytes;
    return this.#joined(EMPTY);
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
    this.#readBytes = 0;
    return joined;
  }

  /** Reads whole lines; answers where the last whole event among them ends, 0 for none. */
  #readLines(bytes: Uint8Array, from: number, to: number): number {
    const hasCr = bytes.indexOf(CR, from) !== -1;
    let eventEnd = 0;
    let start = from;
    if (this.#endedWithCr && bytes[from] === LF) {
      start += 1; // the second half of a CRLF that was cut; it belongs to what ended before it
      if (this.#isAtEventStart) eventEnd = start;
    }
    while (start < to) {
      const end = hasCr ? endOfLine(bytes, start) : bytes.indexOf(LF, start);
      this.#readLine(bytes, start, end);
      start = bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
      if (this.#isAtEventStart) eventEnd = start;
    }
    this.#endedWithCr = bytes[to - 1] === CR;
    return Math.min(eventEnd, to);
  }

  #readLine(bytes: Uint8Array, start: number, end: number): void {
    const isTail = this.#isInsideLongLine;
    this.#isInsideLongLine = false;
    if (start === end && !isTail) {
      this.#isAtEventStart = true;
      this.#eventName = null;
      return;
    }
    // A comment between two events is nobody's part: it need not wait for what comes next.
    if (bytes[start] === COLON && !isTail) return;
    this.#isAtEventStart = false;
    if (isTail) {
      this.#contentEvents += 1;
      return;
    }
    const data = fieldValue(bytes, start, DATA);
    if (data !== -1) {
      this.#readData(bytes, data, end);
      return;
    }
    const name = fieldValue(bytes, start, EVENT);
    if (name !== -1) this.#startEvent(shortText(bytes, name, end));
  }

  #startEvent(name: string): void {
    this.#eventName = name;
    if (eventNames.last.has(name)) this.#isComplete = true;
  }

  #readData(bytes: Uint8Array, start: number, end: number): void {
    this.#dataLines += 1;
    const name = this.#eventName;
    const bits = readDataValue(bytes, start, end);
    if ((bits & dataBits.usage) !== 0) this.#noteUsage(bytes.slice(start, end));
    if ((bits & (dataBits.done | dataBits.finished)) !== 0) this.#isComplete = true;
    if ((bits & dataBits.error) !== 0 || (name !== null && eventNames.error.has(name))) {
      this.#errorEvent ??= bytes.slice(start, end);
    } else if (start < end && (bits & (dataBits.done | dataBits.silent)) === 0) {
      if (name === null || !eventNames.silent.has(name)) this.#contentEvents += 1;
    }
  }

  #noteUsage(json: Uint8Array): void {
    if (this.#firstUsage === null) this.#firstUsage = json;
    else this.#lastUsage = json;
  }
}

/** Where the last whole line of a chunk ends (exclusive); 0 if it holds no line end. */
function lastLineEnd(chunk: Uint8Array): number {
  const last = chunk[chunk.length - 1];
  if (last === LF || last === CR) return chunk.length;
  return Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1;
}
