import type { ServerResponse } from "node:http";

export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a whole answer that nobody may keep. */
export function reply(response: ServerResponse, { status, body, contentType, headers = {} }: Reply): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    "cache-control": "no-store",
    "content-type": contentType,
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  });
  response.end(body);
}

/** A JSON error in the shape that tRPC clients read: what was found, what was expected, what to do. */
export function replyError(
  response: ServerResponse,
  error: { readonly status: number; readonly code: string; readonly message: string; readonly requestId: string },
): void {
  const { status, code, message, requestId } = error;
  const data = { code, httpStatus: status, requestId };
  reply(response, {
    status,
    body: `${JSON.stringify({ error: { message, code: -32_000, data } })}\n`,
    contentType: "application/json",
  });
}

/** Sends a browser elsewhere. */
export function redirect(response: ServerResponse, location: string, headers: Readonly<Record<string, string>>): void {
  reply(response, {
    status: 303,
    body: "",
    contentType: "text/plain; charset=utf-8",
    headers: { location, ...headers },
  });
}
