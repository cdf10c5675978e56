/** Tokens that an engine says an answer took. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Of the prompt's, those found in the engine's cache. */
  readonly cachedTokens: number;
}

/** An answer tells its usage near its end: after the choices, embeddings or output. */
const TAIL_BYTES = 8_192;
const USAGE = '"usage":';

/** Keeps the end of an answer that is not an event stream, to read its usage from. */
export class AnswerTail {
  #parts: Buffer[] = [];
  #bytes = 0;

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    let [first] = this.#parts;
    while (first !== undefined && this.#bytes - first.length >= TAIL_BYTES) {
      this.#parts.shift();
      this.#bytes -= first.length;
      [first] = this.#parts;
    }
  }

  /** The last bytes that are not white space; null while nothing has come. */
  get lastByte(): number | null {
    for (const part of this.#parts.toReversed()) {
      for (let at = part.length - 1; at >= 0; at -= 1) {
        const byte = part[at] ?? 0;
        if (byte > 0x20) return byte;
      }
    }
    return null;
  }

  usage(): TokenUsage | null {
    const [only] = this.#parts;
    const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    // Within a JSON string the quotes would be escaped, so this is a key.
    const at = bytes.lastIndexOf(USAGE);
    if (at === -1) return null;
    const start = bytes.indexOf("{", at);
    const end = start === -1 ? -1 : endOfObject(bytes, start);
    return end === -1 ? null : usageOf(parsed(bytes.subarray(start, end)));
  }
}

/** The usage that events of a stream told, later ones over earlier ones. */
export function usageOfEvents(events: readonly Uint8Array[]): TokenUsage | null {
  const merged: Record<string, unknown> = {};
  for (const json of events) {
    const event = parsed(json);
    for (const place of [event, field(event, "message"), field(event, "response")]) {
      const usage = field(place, "usage");
      if (typeof usage !== "object" || usage === null) continue;
      for (const [name, value] of Object.entries(usage)) if (value !== null) merged[name] = value;
    }
  }
  return usageOf(merged);
}

/** Reads the names of OpenAI's chat and responses APIs and of Anthropic's messages. */
function usageOf(usage: unknown): TokenUsage | null {
  const promptTokens = count(usage, "prompt_tokens") ?? count(usage, "input_tokens");
  const completionTokens = count(usage, "completion_tokens") ?? count(usage, "output_tokens");
  if (promptTokens === null && completionTokens === null) return null;
  const details = field(usage, "prompt_tokens_details") ?? field(usage, "input_tokens_details");
  const cachedTokens = count(details, "cached_tokens") ?? count(usage, "cache_read_input_tokens") ?? 0;
  return { promptTokens: promptTokens ?? 0, completionTokens: completionTokens ?? 0, cachedTokens };
}

function count(value: unknown, name: string): number | null {
  const found = field(value, name);
  return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : null;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

function parsed(json: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString("utf8"));
  } catch {
    return null; // no usage that anybody can read
  }
}

/** Where a JSON object that starts at `start` ends (exclusive); -1 if it does not. */
function endOfObject(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isInString) {
      if (byte === 0x5c) at += 1;
      else if (byte === 0x22) isInString = false;
    } else if (byte === 0x22) isInString = true;
    else if (byte === 0x7b) depth += 1;
    else if (byte === 0x7d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
