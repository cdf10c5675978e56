import { mix } from "./random.ts";

const WORDS = (
  "the of and to in is that for it as was with be by on not he his but at are this have from or one had were they " +
  "an which you all we can there been if more when will would who so no she other its may these what them than some " +
  "him time into only do such my new about out also two any up first could our then most see me should after said " +
  "your very between made many over did down even back how through good much before must right years where still own"
).split(" ");

const NATURAL_TOKENS_LEAST = 36;
const NATURAL_TOKENS_SPREAD = 9;

/** Length of an answer that the client did not limit: 36 to 44 tokens, the same for the same prompt. */
export function naturalLength(promptHash: number): number {
  return NATURAL_TOKENS_LEAST + (promptHash % NATURAL_TOKENS_SPREAD);
}

/** The token at `index` of the answer to a prompt. Choice 1 of a request with `n: 2` differs from choice 0. */
export function answerToken(promptHash: number, choice: number, index: number): string {
  const word = WORDS[mix(mix(promptHash, choice + 1), index) % WORDS.length] ?? "";
  return index === 0 ? word : ` ${word}`;
}

/** The whole answer of `tokens` tokens. */
export function answerText(promptHash: number, choice: number, tokens: number): string {
  let text = "";
  for (let index = 0; index < tokens; index += 1) {
    text += answerToken(promptHash, choice, index);
  }
  return text;
}

/** Deterministic unit vector for an embedding. */
export function embeddingVector(promptHash: number, dimensions: number): number[] {
  const raw = Array.from({ length: dimensions }, (_, index) => mix(promptHash, index + 1) / 2_147_483_648 - 1);
  const norm = Math.hypot(...raw) || 1;
  return raw.map((value) => value / norm);
}
