import { keyText } from "./json-bytes.ts";

/** What a router looks for at the top level of a request. `prompt` stands for each field that holds one. */
export type BodyField = "model" | "stream" | "prompt" | "user" | "prompt_cache_key";

const FIELDS: Readonly<Record<string, BodyField>> = {
  model: "model",
  stream: "stream",
  system: "prompt",
  messages: "prompt",
  prompt: "prompt",
  input: "prompt",
  query: "prompt",
  user: "user",
  prompt_cache_key: "prompt_cache_key",
};

/** Length and first byte of each name, as one number: nearly every other key is told apart by them. */
const SHAPES: ReadonlySet<number> = new Set(Object.keys(FIELDS).map((name) => shape(name.length, name.charCodeAt(0))));

/** The field that a key, given with its quotes, names; null for any other. `escapes`: it holds a backslash. */
export function fieldOf(
  bytes: Uint8Array,
  span: { readonly start: number; readonly end: number },
  escapes: boolean,
): BodyField | null {
  if (!escapes && !SHAPES.has(shape(span.end - span.start - 2, bytes[span.start + 1] ?? 0))) return null;
  const key = keyText(bytes, span);
  return key !== undefined && Object.hasOwn(FIELDS, key) ? (FIELDS[key] ?? null) : null;
}

function shape(length: number, first: number): number {
  return length * 256 + first;
}
