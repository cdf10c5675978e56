import type { OpenAiError } from "@llmgw/wire";
import type { RouterError } from "./router-error.ts";

/** The API that a path belongs to: it decides what an error looks like, in an answer of its own and within a stream. */
export type Dialect = "openai" | "responses" | "anthropic";

/** The body of an error that the router itself answers with. */
export function errorBody(error: RouterError, { dialect, requestId }: { dialect: Dialect; requestId: string }): object {
  const { status, code, message, param } = error;
  if (dialect === "anthropic") {
    return { type: "error", error: { type: anthropicType(status), message }, request_id: requestId };
  }
  const body: OpenAiError = { error: { message, type: openAiType(status), param, code } };
  return body;
}

/**
 * The one event that tells a client of an event stream that what it got is not the whole answer. `sequence`: how many events
 * came before it, for the dialect that counts them.
 */
export function interruptedEvent(dialect: Dialect, message: string, sequence: number): string {
  switch (dialect) {
    case "anthropic": {
      const body = { type: "error", error: { type: "api_error", message } };
      return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
    }
    case "responses": {
      const error = { code: "stream_interrupted", message };
      const response = { object: "response", status: "failed", error, output: [] };
      const body = { type: "response.failed", sequence_number: sequence, response };
      return `event: response.failed\ndata: ${JSON.stringify(body)}\n\n`;
    }
    case "openai": {
      const error = { message, type: "upstream_error", param: null, code: "stream_interrupted" };
      return `data: ${JSON.stringify({ error })}\n\n`;
    }
  }
}

function openAiType(status: number): string {
  if (status === 429) return "rate_limit_error";
  if (status === 502 || status === 504) return "upstream_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** Names of https://docs.anthropic.com/en/api/errors. */
function anthropicType(status: number): string {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    case 504:
      return "timeout_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}
