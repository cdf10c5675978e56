import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { newId } from "@llmgw/service";
import { errorBody } from "./dialect.ts";
import { type RouterErrorCode, routerError } from "./router-error.ts";

/** Answers bytes that are no HTTP request, or one whose head never ended, and closes. */
export function answerBadRequest(error: NodeJS.ErrnoException, socket: Socket, isAnswering: boolean): void {
  // Bytes in the middle of another answer would be taken for a part of it.
  if (error.code === "ECONNRESET" || !socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const refusal = routerError(codeOf(error), messageOf(error));
  const requestId = newId("req");
  const body = JSON.stringify(errorBody(refusal, { dialect: "openai", requestId }));
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    `x-llmgw-reason: ${refusal.code}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function codeOf({ code }: NodeJS.ErrnoException): RouterErrorCode {
  if (code === "HPE_HEADER_OVERFLOW") return "header_too_large";
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? "upload_timeout" : "invalid_request_error";
}

function messageOf({ code }: NodeJS.ErrnoException): string {
  if (code === "HPE_HEADER_OVERFLOW") return "The request's headers are too large.";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "The request's head took too long to arrive.";
  return "This is not a valid HTTP/1.1 request.";
}
