import type { IncomingMessage, ServerResponse } from "node:http";

/** One request with its whole body. */
export interface LlamaExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly body: Buffer;
}

interface LlamaError {
  readonly code: number;
  readonly message: string;
  readonly type: string;
  readonly extra?: object;
}

export function sendLlamaError(response: ServerResponse, { code, message, type, extra }: LlamaError): void {
  sendLlama(response, code, { error: { code, message, type, ...extra } });
}

export function sendLlama(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}
