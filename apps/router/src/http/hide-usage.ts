const USAGE = Buffer.from('"usage"');

/** An event's end: an empty line, with any of the three line ends. */
const EVENT_END = /\r\n\r\n|\n\n|\r\r|\n\r\n/g;

/**
 * Whole events of a completion's stream without those that only tell what it used; null when nothing is left. Everything else
 * stays as it is, byte for byte.
 */
export function withoutUsageEvents(events: Uint8Array): Uint8Array | null {
  const bytes = Buffer.from(events.buffer, events.byteOffset, events.byteLength);
  if (!bytes.includes(USAGE)) return events;
  const text = bytes.toString("latin1"); // one character a byte: places in the text are places in the bytes
  const kept: Buffer[] = [];
  let start = 0;
  for (const match of text.matchAll(EVENT_END)) {
    const end = match.index + match[0].length;
    const event = bytes.subarray(start, end);
    if (!isUsageEvent(event)) kept.push(event);
    start = end;
  }
  kept.push(bytes.subarray(start));
  const rest = Buffer.concat(kept);
  return rest.length === 0 ? null : rest;
}

/** True for `{…, "choices": [], "usage": {…}}`, the last chunk of a stream that was asked for it. */
function isUsageEvent(event: Buffer): boolean {
  if (!event.includes(USAGE)) return false;
  const data = event
    .toString("utf8")
    .split(/\r\n|\n|\r/)
    .flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []))
    .join("\n");
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    return false; // whatever it is, it is the client's
  }
  if (typeof chunk !== "object" || chunk === null || !("usage" in chunk) || !("choices" in chunk)) return false;
  return typeof chunk.usage === "object" && chunk.usage !== null && isEmptyList(chunk.choices);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
