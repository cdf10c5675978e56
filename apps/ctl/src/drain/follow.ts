import type { DrainView, LlmgwClient } from "@llmgw/api";
import type { Clock } from "@llmgw/service";
import { type ExitCode, exit } from "../ctl/exit.ts";
import { talk } from "../ctl/output.ts";
import { isUnreachable } from "../ctl/report-error.ts";

export interface FollowOptions {
  readonly client: LlmgwClient;
  readonly drainId: string;
  /** Give up following after this long, ms; the drain goes on. Null: follow to the end. */
  readonly timeoutMs: number | null;
  readonly clock: Clock;
  /** Aborts when the operator presses Ctrl-C: following ends, the drain goes on. */
  readonly signal: AbortSignal;
  readonly onChange: (drain: DrainView) => void;
}

export type Followed =
  | { readonly kind: "ended"; readonly drain: DrainView }
  | { readonly kind: "timeout" | "detached"; readonly drain: DrainView | null };

/**
 * Follows a drain to its end by asking once a second. An admin that is away is waited for: the drain's state is in its
 * database, so what is seen afterwards is the same drain.
 */
export async function followDrain(options: FollowOptions): Promise<Followed> {
  const { client, clock, signal, timeoutMs } = options;
  const startedMs = clock.monotonicMs();
  let last: DrainView | null = null;
  let isAway = false;
  while (!signal.aborted) {
    try {
      // A signal of its own for each call: tRPC leaves its listeners on the signal it is given.
      const drain: DrainView = await client.drains.get.query(
        { drain: options.drainId },
        { signal: AbortSignal.any([signal]) },
      );
      if (isAway) talk("the admin answers again");
      isAway = false;
      options.onChange(drain);
      last = drain;
      if (drain.endedAt !== null) return { kind: "ended", drain };
    } catch (error) {
      if (signal.aborted) break;
      if (!isUnreachable(error)) throw error;
      if (!isAway)
        talk("the admin does not answer; waiting for it (requests go on, and so does the drain once it is back)");
      isAway = true;
    }
    if (timeoutMs !== null && clock.monotonicMs() - startedMs > timeoutMs) return { kind: "timeout", drain: last };
    try {
      await clock.sleep(500, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
  return { kind: "detached", drain: last };
}

const results: Record<NonNullable<DrainView["result"]>, { code: ExitCode; words: string }> = {
  complete: { code: exit.ok, words: "is drained: nothing was lost, and its agent confirmed every process gone" },
  completeWithLosses: { code: exit.finishedWithLosses, words: "is drained, with losses" },
  unconfirmed: { code: exit.finishedWithLosses, words: "is taken as drained, unconfirmed: its agent is silent" },
  cancelled: { code: exit.refused, words: "is not drained: the drain was stopped" },
  failed: { code: exit.refused, words: "is not drained: the drain failed" },
};

/** The closing words of a drain and the exit code they mean. */
export function closing(drain: DrainView): { code: ExitCode; words: string } {
  const { code, words } = results[drain.result ?? "failed"];
  return { code, words: `${drain.nodeName} ${words}` };
}
