import type { EngineScript } from "./fake-engine.ts";
import { okAnswer } from "./kit.ts";

/** An engine that answers only when it is told to; it knows who asked, in order, and how many it had at once. */
export interface HeldEngine {
  readonly script: EngineScript;
  /** The value of `"n"` in each body, as they came. */
  readonly order: string[];
  /** Most requests that it had at the same time. */
  readonly most: () => number;
  readonly held: () => number;
  /** Answers the oldest one. */
  release(): void;
}

export function heldEngine(answer: string = okAnswer): HeldEngine {
  const order: string[] = [];
  const waiting: (() => void)[] = [];
  let most = 0;
  return {
    order,
    most: () => most,
    held: () => waiting.length,
    script: ({ socket, body }) => {
      order.push(/"n":"([^"]*)"/.exec(body.toString())?.[1] ?? "");
      waiting.push(() => void socket.write(answer));
      most = Math.max(most, waiting.length);
    },
    release: () => waiting.shift()?.(),
  };
}
