/** An answer that the router itself makes instead of an engine's. */
export interface RouterError {
  readonly status: number;
  /** Also the value of `x-llmgw-reason`. */
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  /** Further headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface RouterErrorOptions {
  readonly param?: string | null;
  readonly retryAfterSeconds?: number | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every code that the router answers with, and its HTTP status. */
const STATUS = {
  invalid_api_key: 401,
  model_not_allowed: 403,
  invalid_request_error: 400,
  invalid_priority: 400,
  model_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  upload_timeout: 408,
  request_too_large: 413,
  unsupported_encoding: 415,
  expectation_failed: 417,
  queue_full: 429,
  queue_timeout: 429,
  quota_exceeded: 429,
  rate_limited: 429,
  header_too_large: 431,
  internal_error: 500,
  upstream_error: 502,
  upstream_auth: 502,
  keys_outdated: 503,
  no_endpoint: 503,
  overloaded: 503,
  shutting_down: 503,
  upstream_timeout: 504,
} as const;

export type RouterErrorCode = keyof typeof STATUS;

export function routerError(code: RouterErrorCode, message: string, options: RouterErrorOptions = {}): RouterError {
  const { param = null, retryAfterSeconds = null, headers = {} } = options;
  return { status: STATUS[code], code, message, param, retryAfterSeconds, headers };
}

/** A client's word as it may be shown in a message: at most 128 characters, nothing that is not printable ASCII. */
export function shown(text: string): string {
  const short = text.length > 128 ? `${text.slice(0, 125)}...` : text;
  return JSON.stringify(short).replace(/[^\x20-\x7e]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
