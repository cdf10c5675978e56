import { mix } from "../../core/random.ts";

/** One token with what a client may ask to know of it. */
export interface AnsweredToken {
  readonly text: string;
  readonly index: number;
}

interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

/** Invented, the same for the same token and place, and never above 0. */
function logprobOf(text: string, rank: number): number {
  return -((mix(text.length, rank + 1) % 1000) / 4000 + rank * 1.5);
}

function entry(token: string, rank: number): TokenLogprob {
  return { token, logprob: logprobOf(token, rank), bytes: [...Buffer.from(token)] };
}

/** The chat form: each token with its `top` most likely rivals, the token itself first. */
export function chatLogprobs(tokens: readonly AnsweredToken[], top: number) {
  return {
    content: tokens.map(({ text }) => ({
      ...entry(text, 0),
      top_logprobs: Array.from({ length: top }, (_, rank) => entry(rank === 0 ? text : `${text}${rank}`, rank)),
    })),
  };
}

/** The legacy form: parallel lists, and a map a token. */
export function textLogprobs(tokens: readonly AnsweredToken[], top: number) {
  let at = 0;
  return {
    tokens: tokens.map(({ text }) => text),
    token_logprobs: tokens.map(({ text }) => logprobOf(text, 0)),
    top_logprobs: tokens.map(({ text }) =>
      Object.fromEntries(
        Array.from({ length: top }, (_, rank) => [rank === 0 ? text : `${text}${rank}`, logprobOf(text, rank)]),
      ),
    ),
    text_offset: tokens.map(({ text }) => {
      const offset = at;
      at += text.length;
      return offset;
    }),
  };
}
