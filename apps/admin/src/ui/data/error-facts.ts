/** What an error of the API says: words for people, the code for the page, the request id for the admin's log. */
export interface ErrorFacts {
  readonly message: string;
  readonly code: string | null;
  readonly requestId: string | null;
  /** With `PRECONDITION_FAILED`: what is true now, in place of what the caller acted on. */
  readonly fresh: unknown;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && name in value ? (value as Record<string, unknown>)[name] : null;
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** An error without an answer from the server (connection refused, timeout) has no code. */
export function errorFacts(error: unknown): ErrorFacts {
  const data = field(error, "data");
  const code = text(field(data, "code"));
  const said = text(field(error, "message")) ?? "The admin did not say why.";
  return {
    message: code === null ? `No usable answer from the admin: ${said}.` : said,
    code,
    requestId: text(field(data, "requestId")),
    fresh: field(data, "fresh"),
  };
}
