import { type BodyField, fieldOf } from "./body-field.ts";
import { endOfPlainText, endsScalar, escapeLength, isJsonNumber, literal } from "./json-bytes.ts";

/** Bytes `start` (inclusive) to `end` (exclusive) of a body. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

export type BodyScanResult =
  | {
      readonly kind: "ok";
      /** The JSON text of the value of `model`, quotes included: a non-empty string. */
      readonly model: ByteSpan;
      readonly stream: boolean;
      /** The value that holds the prompt's head (`system`, `messages`, `prompt` or `input`, whichever comes first). */
      readonly prompt: ByteSpan | null;
      /** The value of `prompt_cache_key`, else of `user`: what ties requests of one session together. */
      readonly session: ByteSpan | null;
    }
  | { readonly kind: "invalid"; readonly message: string; readonly param: string | null };

/** Deeper nesting is refused: engines parse recursively, and some of them crash on it. */
const MAX_DEPTH = 512;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

type Expect = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma" | "end";

/**
 * Reads `model` and `stream` of a request body without parsing it: walks the bytes once, checks that they are one JSON
 * object to the end (RFC 8259; UTF-8 validity is the caller's to check), and notes where the two values stand. It works in
 * steps, so that a large body does not hold up everything else. The bytes must not change meanwhile.
 */
export class BodyScan {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position = 0;
  #expect: Expect = "value";
  /** One entry an open bracket: true for an object, false for an array. */
  readonly #isObject: boolean[] = [];
  #depth = 0;
  /** Start of the string being read, its opening quote; -1 outside strings. */
  #stringStart = -1;
  #stringEscapes = false;
  #stringIsKey = false;
  /** The field whose value comes next. */
  #field: BodyField | null = null;
  /** The top-level field whose array or object is being read, and where that starts. */
  #openField: BodyField | null = null;
  #openStart = 0;
  #model: ByteSpan | null = null;
  #stream: boolean | null = null;
  #prompt: ByteSpan | null = null;
  #user: ByteSpan | null = null;
  #cacheKey: ByteSpan | null = null;
  #hasStream = false;
  #invalid: BodyScanResult | null = null;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Reads on for about `maxBytes`; answers null while there is more to read. */
  step(maxBytes: number): BodyScanResult | null {
    const bytes = this.#bytes;
    const stopAt = Math.min(bytes.length, this.#position + maxBytes);
    while (this.#position < stopAt && this.#invalid === null) {
      if (this.#stringStart >= 0) this.#readString(stopAt);
      else this.#readToken(bytes[this.#position] ?? 0);
    }
    if (this.#invalid !== null) return this.#invalid;
    return this.#position < bytes.length ? null : this.#result();
  }

  #result(): BodyScanResult {
    if (this.#bytes.length === 0) return invalid("the request has no body: expected a JSON object");
    if (this.#expect !== "end" || this.#stringStart >= 0)
      return invalid("the body is not valid JSON: it ends too early");
    if (this.#model === null) return invalid('the body has no "model": expected the name of a model', "model");
    return {
      kind: "ok",
      model: this.#model,
      stream: this.#stream === true,
      prompt: this.#prompt,
      session: this.#cacheKey ?? this.#user,
    };
  }

  #fail(message: string, param: string | null = null): void {
    this.#invalid = invalid(message, param);
  }

  #failHere(): void {
    this.#fail(`the body is not valid JSON: byte ${this.#position} cannot stand there`);
  }

  #readToken(byte: number): void {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.#position += 1;
      return;
    }
    switch (this.#expect) {
      case "value":
        this.#readValue(byte);
        return;
      case "value or ]":
        if (byte === CLOSE_ARRAY) this.#close();
        else this.#readValue(byte);
        return;
      case "key":
      case "key or }":
        if (byte === QUOTE) this.#openString(true);
        else if (byte === CLOSE_OBJECT && this.#expect === "key or }") this.#close();
        else this.#failHere();
        return;
      case "colon":
        if (byte !== COLON) this.#failHere();
        this.#position += 1;
        this.#expect = "value";
        return;
      case "comma":
        this.#readComma(byte);
        return;
      case "end":
        this.#failHere();
    }
  }

  #readComma(byte: number): void {
    const inObject = this.#isObject[this.#depth - 1] === true;
    if (byte === COMMA) {
      this.#position += 1;
      this.#expect = inObject ? "key" : "value";
    } else if (byte === (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) this.#close();
    else this.#failHere();
  }

  #readValue(byte: number): void {
    if (this.#depth === 0 && byte !== OPEN_OBJECT) {
      this.#fail("the body is not a JSON object");
      return;
    }
    if (this.#field !== null && !this.#fieldMayStartWith(this.#field, byte)) return;
    if (byte === QUOTE) this.#openString(false);
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte === OPEN_OBJECT);
    else this.#readScalar();
  }

  #fieldMayStartWith(field: BodyField, byte: number): boolean {
    if (field === "model" && byte !== QUOTE) {
      this.#fail('"model" is not a string: expected the name of a model', "model");
      return false;
    }
    if (field === "stream" && byte !== 0x74 && byte !== 0x66 && byte !== 0x6e) {
      this.#fail('"stream" is not true, false or null', "stream");
      return false;
    }
    return true;
  }

  #open(isObject: boolean): void {
    if (this.#depth === MAX_DEPTH) {
      this.#fail(`the body is nested deeper than ${MAX_DEPTH} levels`);
      return;
    }
    if (this.#field !== null) {
      this.#openField = this.#field;
      this.#openStart = this.#position;
      this.#field = null;
    }
    this.#isObject[this.#depth] = isObject;
    this.#depth += 1;
    this.#position += 1;
    this.#expect = isObject ? "key or }" : "value or ]";
  }

  #close(): void {
    this.#depth -= 1;
    this.#position += 1;
    this.#expect = this.#depth === 0 ? "end" : "comma";
    if (this.#depth !== 1 || this.#openField === null) return;
    this.#noteValue(this.#openField, { start: this.#openStart, end: this.#position });
    this.#openField = null;
  }

  #readScalar(): void {
    const bytes = this.#bytes;
    const start = this.#position;
    let end = start;
    while (end < bytes.length && !endsScalar(bytes[end] ?? 0)) end += 1;
    const word = literal(bytes, { start, end });
    if (word === undefined && !isJsonNumber(bytes, start, end)) {
      this.#failHere();
      return;
    }
    if (this.#field === "stream") this.#stream = word === true;
    this.#field = null;
    this.#position = end;
    this.#expect = "comma";
  }

  #openString(isKey: boolean): void {
    this.#stringStart = this.#position;
    this.#stringEscapes = false;
    this.#stringIsKey = isKey;
    this.#position += 1;
  }

  #readString(stopAt: number): void {
    const bytes = this.#bytes;
    let position = this.#position;
    while (position < stopAt) {
      position = endOfPlainText(this.#view, position, stopAt);
      if (position === stopAt) break;
      const byte = bytes[position] ?? 0;
      if (byte === QUOTE) {
        this.#position = position + 1;
        this.#endString();
        return;
      }
      const length = byte === BACKSLASH ? escapeLength(bytes, position) : 0;
      if (length === 0) {
        this.#position = position;
        this.#failHere();
        return;
      }
      this.#stringEscapes = true;
      position += length;
    }
    this.#position = position;
  }

  #endString(): void {
    const span = { start: this.#stringStart, end: this.#position };
    this.#stringStart = -1;
    if (this.#stringIsKey) {
      this.#expect = "colon";
      if (this.#depth === 1) this.#noteKey(span);
      return;
    }
    if (this.#field !== null) this.#noteValue(this.#field, span);
    this.#field = null;
    this.#expect = "comma";
  }

  #noteKey(span: ByteSpan): void {
    const field = fieldOf(this.#bytes, span, this.#stringEscapes);
    this.#field = field;
    if (field === "model" && this.#model !== null) this.#failTwice(field);
    if (field !== "stream") return;
    if (this.#hasStream) this.#failTwice(field);
    this.#hasStream = true;
  }

  #failTwice(field: BodyField): void {
    this.#fail(`"${field}" is given twice: expected it once`, field);
  }

  /** Notes where the value of a top-level field stands: a string, an array or an object. */
  #noteValue(field: BodyField, span: ByteSpan): void {
    if (field === "model") {
      if (span.end - span.start === 2) this.#fail('"model" is empty: expected the name of a model', "model");
      this.#model = span;
    } else if (field === "prompt") this.#prompt ??= span;
    else if (field === "user") this.#user ??= span;
    else if (field === "prompt_cache_key") this.#cacheKey ??= span;
  }
}

function invalid(message: string, param: string | null = null): BodyScanResult {
  return { kind: "invalid", message, param };
}
