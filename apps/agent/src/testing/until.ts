const stepMs = 20;
const timeoutMs = 40_000;

/** The first answer that is neither undefined, null nor false; fails, naming what was awaited, when none comes. */
export async function until<T>(what: string, ask: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadlineMs = performance.now() + timeoutMs;
  while (performance.now() < deadlineMs) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
}
