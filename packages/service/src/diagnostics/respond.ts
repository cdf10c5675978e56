import type { ServerResponse } from "node:http";

export interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A JSON answer. */
export function json(status: number, value: unknown, headers: Answer["headers"] = {}): Answer {
  return { status, body: `${JSON.stringify(value)}\n`, headers: { ...headers, "content-type": "application/json" } };
}

/** A plain text answer. */
export function text(status: number, body: string): Answer {
  return { status, body, headers: { "content-type": "text/plain; charset=utf-8" } };
}

/** A JSON error in one shape for every diagnostics route: what was found and what was expected. */
export function problem(status: number, message: string, headers: Answer["headers"] = {}): Answer {
  return json(status, { error: { message } }, headers);
}

/** Sends an answer; for a HEAD request Node leaves the body out and keeps its length. */
export function send(response: ServerResponse, { status, body, headers }: Answer): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
    "content-length": String(Buffer.byteLength(body)),
  });
  response.end(body);
}
