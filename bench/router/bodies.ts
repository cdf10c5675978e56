/** Requests as the bench sends them. The engine that answers looks at `bench` only, and at nothing else of a body. */
export type AnswerKind = "json" | "burst" | "paced" | "quiet";

/** A chat request whose prompt makes it about `bytes` long. */
export function chatBody(answer: AnswerKind, bytes: number): Buffer {
  const base = { bench: answer, model: "m1", stream: answer !== "json", max_tokens: 128, temperature: 0.7 };
  const empty = JSON.stringify({ ...base, messages: [{ role: "user", content: "" }] }).length;
  const content = "x".repeat(Math.max(0, bytes - empty));
  return Buffer.from(JSON.stringify({ ...base, messages: [{ role: "user", content }] }));
}

/** Bytes of a whole request, as they go over the wire. */
export function requestBytes(path: string, body: Buffer, headers: Readonly<Record<string, string>>): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    "host: bench",
    "content-type: application/json",
    `content-length: ${body.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]);
}

export const BURST_EVENTS = 200;
export const PACED_INTERVAL_MS = 100;
/** Between two events of a stream that is open and little more. */
export const QUIET_INTERVAL_MS = 10_000;
