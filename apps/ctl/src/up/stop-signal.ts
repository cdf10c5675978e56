/** Aborts on SIGINT or SIGTERM, or when told to. Repeats within a second count as one (npm forwards signals); a later one ends the process at once. */
export function stopSignal(say: (line: string) => void): {
  readonly signal: AbortSignal;
  readonly stopped: Promise<void>;
  abort(reason: unknown): void;
} {
  const controller = new AbortController();
  let firstMs = 0;
  const onSignal = (name: NodeJS.Signals) => {
    if (!controller.signal.aborted) {
      firstMs = Date.now();
      controller.abort(new Error(`received ${name}`));
    } else if (Date.now() - firstMs > 1_000) {
      say("ended by a second signal; `llmgw up` will clean up what is left");
      process.exit(130);
    }
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", onSignal);
  const stopped = new Promise<void>((resolve) =>
    controller.signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  return { signal: controller.signal, stopped, abort: (reason) => controller.abort(reason) };
}
