import { setTimeout as sleep } from "node:timers/promises";

/** Asks until the answer is truthy; the error of a wait that is over says what it waited for and what it saw last. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  {
    timeoutMs = 60_000,
    everyMs = 100,
    describe,
  }: { timeoutMs?: number; everyMs?: number; describe?: () => unknown } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown = "nothing";
  while (Date.now() < deadline) {
    try {
      const answer = await ask();
      if (answer) return answer;
      last = answer;
    } catch (error) {
      last = error instanceof Error ? error.message : error;
    }
    await sleep(everyMs);
  }
  const seen = describe === undefined ? last : describe();
  throw new Error(`waited ${timeoutMs / 1000} s for ${what}; last seen: ${JSON.stringify(seen)}`);
}
