import type { ByteSpan } from "./body-scan.ts";

export type MultipartScanResult =
  | {
      readonly kind: "ok";
      /** The bytes of the value of the part `model`. Not empty. */
      readonly model: ByteSpan;
      readonly stream: boolean;
    }
  | { readonly kind: "invalid"; readonly message: string; readonly param: string | null };

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;

/** More than this before a part's content is no part's head. */
const MAX_PART_HEAD_BYTES = 16_384;
const MAX_MODEL_BYTES = 65_536;

/** The boundary in a `multipart/form-data` content type, quoted or not; null for any other content type. */
export function multipartBoundary(contentType: string): string | null {
  if (!/^multipart\/form-data *(?:;|$)/i.test(contentType)) return null;
  const found = /; *boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  return found?.[1] ?? found?.[2] ?? null;
}

/**
 * Finds the parts `model` and `stream` of a form (RFC 7578) without taking it apart: walks from delimiter to delimiter, to
 * the closing one, and notes where the two values stand. A line that starts like the delimiter and goes on otherwise is
 * content. It works in steps, so that a large upload does not hold up everything else. The bytes must not change meanwhile.
 */
export class MultipartScan {
  readonly #bytes: Uint8Array;
  readonly #delimiter: Uint8Array;
  #position = 0;
  /** Start of the content of the part being read, and its name; null before the first part. */
  #part: { readonly start: number; readonly name: string | null } | null = null;
  #model: ByteSpan | null = null;
  #stream: boolean | null = null;

  constructor(bytes: Uint8Array, boundary: string) {
    this.#bytes = bytes;
    this.#delimiter = Uint8Array.from(`--${boundary}`, (character) => character.charCodeAt(0));
  }

  /** Reads on for about `maxBytes`; answers null while there is more to read. */
  step(maxBytes: number): MultipartScanResult | null {
    const bytes = this.#bytes;
    const stopAt = this.#position + maxBytes;
    while (this.#position < stopAt) {
      const at = this.#nextDelimiter(stopAt);
      if (at === -1)
        return this.#position < bytes.length ? null : invalid("the form has no end: expected its closing delimiter");
      const after = at + this.#delimiter.length;
      const problem = this.#endPart(at);
      if (problem !== null) return problem;
      if (bytes[after] === DASH) return this.#result();
      const started = this.#startPart(after);
      if (started !== null) return started;
    }
    return null;
  }

  #result(): MultipartScanResult {
    if (this.#model === null) return invalid('the form has no "model": expected the name of a model', "model");
    return { kind: "ok", model: this.#model, stream: this.#stream === true };
  }

  /** Where the next delimiter's dashes stand, looking from the current position on for starts before `stopAt`; -1: none. */
  #nextDelimiter(stopAt: number): number {
    const bytes = this.#bytes;
    if (this.#position === 0 && this.#isDelimiter(0)) return 0;
    for (let at = this.#position; ; at += 1) {
      at = bytes.indexOf(CR, at);
      if (at === -1) {
        this.#position = bytes.length;
        return -1;
      }
      if (bytes[at + 1] === LF && this.#isDelimiter(at + 2)) return at + 2;
      if (at >= stopAt) {
        this.#position = at + 1;
        return -1;
      }
    }
  }

  /** A delimiter is followed by two dashes, or by blanks and the end of its line. */
  #isDelimiter(at: number): boolean {
    const bytes = this.#bytes;
    const delimiter = this.#delimiter;
    for (let index = 0; index < delimiter.length; index += 1) {
      if (bytes[at + index] !== delimiter[index]) return false;
    }
    let after = at + delimiter.length;
    if (bytes[after] === DASH && bytes[after + 1] === DASH) return isLineEnd(bytes, after + 2);
    while (bytes[after] === 0x20 || bytes[after] === 0x09) after += 1;
    return bytes[after] === CR && bytes[after + 1] === LF;
  }

  #endPart(delimiterAt: number): MultipartScanResult | null {
    if (this.#part === null) return null;
    const { start, name } = this.#part;
    const span = { start, end: Math.max(start, delimiterAt - 2) };
    if (name === "model") {
      if (this.#model !== null) return invalid('"model" is given twice: expected it once', "model");
      if (span.end === span.start) return invalid('"model" is empty: expected the name of a model', "model");
      if (span.end - span.start > MAX_MODEL_BYTES) return invalid('"model" is longer than any name', "model");
      this.#model = span;
    } else if (name === "stream") {
      if (this.#stream !== null) return invalid('"stream" is given twice: expected it once', "stream");
      this.#stream = /^(?:true|1)$/i.test(ascii(this.#bytes, span));
    }
    return null;
  }

  #startPart(afterDelimiter: number): MultipartScanResult | null {
    const bytes = this.#bytes;
    const headStart = bytes.indexOf(LF, afterDelimiter) + 1;
    const headEnd = endOfHead(bytes, headStart);
    if (headEnd === -1) return invalid("a part of the form has no end of its headers");
    const head = ascii(bytes, { start: headStart, end: headEnd });
    const disposition = /^content-disposition:([^\r\n]*)/im.exec(head)?.[1] ?? "";
    this.#part = { start: headEnd, name: nameOf(disposition) };
    // An empty part's own line end is also the one in front of the next delimiter.
    this.#position = headEnd - 2;
    return null;
  }
}

/** The `name` of a Content-Disposition. Read parameter by parameter: a file's name may hold anything. */
function nameOf(disposition: string): string | null {
  for (const [, name = "", quoted, bare] of disposition.matchAll(/; *([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))/g)) {
    if (name.toLowerCase() === "name") return quoted ?? bare ?? null;
  }
  return null;
}

/** Where the content after a part's headers starts; -1 if they do not end within bounds. */
function endOfHead(bytes: Uint8Array, start: number): number {
  if (bytes[start] === CR && bytes[start + 1] === LF) return start + 2;
  for (
    let at = bytes.indexOf(CR, start);
    at !== -1 && at - start < MAX_PART_HEAD_BYTES;
    at = bytes.indexOf(CR, at + 1)
  ) {
    if (bytes[at + 1] === LF && bytes[at + 2] === CR && bytes[at + 3] === LF) return at + 4;
  }
  return -1;
}

function isLineEnd(bytes: Uint8Array, at: number): boolean {
  let after = at;
  while (bytes[after] === 0x20 || bytes[after] === 0x09) after += 1;
  return after >= bytes.length || bytes[after] === CR;
}

function ascii(bytes: Uint8Array, { start, end }: ByteSpan): string {
  let text = "";
  for (let at = start; at < end; at += 1) text += String.fromCharCode(bytes[at] ?? 0);
  return text;
}

function invalid(message: string, param: string | null = null): MultipartScanResult {
  return { kind: "invalid", message, param };
}
