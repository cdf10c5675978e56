import { type MeterAnswer, waitSeconds } from "@llmgw/domain";
import { type RouterError, routerError } from "./router-error.ts";

const WORDS = {
  requestsPerMinute: "requests per minute",
  tokensPerMinute: "tokens per minute",
  concurrent: "requests at a time",
} as const;

/** The answer to a request that goes over one of its key's limits. */
export function limitError({ by, limit, retryAfterMs }: Extract<MeterAnswer, { kind: "refused" }>): RouterError {
  const code = by === "tokensPerMinute" ? "quota_exceeded" : "rate_limited";
  return routerError(code, `This API key has reached its limit of ${limit} ${WORDS[by]} on this router.`, {
    retryAfterSeconds: waitSeconds(retryAfterMs),
  });
}
