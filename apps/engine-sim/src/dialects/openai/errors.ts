import { type ServerResponse, STATUS_CODES } from "node:http";
import type { z } from "zod";
import { sendJson } from "../../http/http-server.ts";
import type { ServerState } from "./server-state.ts";

/** An error answer, before its engine has put it in words of its own. */
export interface ServeError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
}

export function sendError(response: ServerResponse, error: ServeError, { dialect }: ServerState): void {
  sendJson(response, error.status, dialect.errorBody(error));
}

export function badRequest(message: string, param: string | null = null): ServeError {
  return { status: 400, message, type: "BadRequestError", param };
}

export function modelNotFound(model: string): ServeError {
  return { status: 404, message: `The model \`${model}\` does not exist.`, type: "NotFoundError", param: "model" };
}

/** @param asked.inputTokens a lower bound: counting stops once the prompt alone is too long */
export function contextTooLong(maxModelLen: number, asked: { inputTokens: number; outputTokens: number }): ServeError {
  const { inputTokens, outputTokens } = asked;
  return badRequest(
    `This model's maximum context length is ${maxModelLen} tokens. However, you requested ${outputTokens} output ` +
      `tokens and your prompt contains at least ${inputTokens} input tokens, for a total of at least ` +
      `${inputTokens + outputTokens} tokens. Please reduce the length of the input prompt or the number of requested ` +
      `output tokens. (parameter=input_tokens, value=${inputTokens})`,
    "input_tokens",
  );
}

/** An error that carries the HTTP status' own phrase as its type, as vLLM's HTTPException handler does. */
export function statusError(status: number, message?: string): ServeError {
  const phrase = STATUS_CODES[status] ?? "Error";
  return { status, message: message ?? phrase, type: phrase, param: null };
}

export function invalidJson(error: unknown): ServeError {
  const reason = error instanceof Error ? error.message : String(error);
  return statusError(
    400,
    "1 validation error:\n  " +
      `{'type': 'json_invalid', 'loc': ('body', 0), 'msg': 'JSON decode error', 'input': {}, 'ctx': {'error': ${quoted(reason)}}}`,
  );
}

/** Field errors, in the shape of a Python list of dicts that vLLM passes on from pydantic. */
export function invalidBody(error: z.ZodError): ServeError {
  const issues = error.issues.map((issue) => {
    const location = ["'body'", ...issue.path.map((part) => (typeof part === "number" ? part : quoted(String(part))))];
    const missing = issue.code === "invalid_type" && issue.message.includes("received undefined");
    const [type, message] = missing ? ["missing", "Field required"] : [issue.code, issue.message];
    return `  {'type': ${quoted(type)}, 'loc': (${location.join(", ")}), 'msg': ${quoted(message)}}`;
  });
  const param = error.issues[0]?.path[0];
  const heading = `${issues.length} validation error${issues.length === 1 ? "" : "s"}:`;
  return { ...statusError(400, [heading, ...issues].join("\n")), param: param === undefined ? null : String(param) };
}

/** The words of the fault injected with `status:CODE`. */
export function injectedError(status: number): ServeError {
  return statusError(
    status,
    status === 500 ? "EngineCore encountered an issue. See stack trace (above) for the root cause." : undefined,
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
