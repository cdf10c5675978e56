import { mix } from "./random.ts";

/** Pretended vocabulary size, for token ids. */
const VOCABULARY = 151_936;
const LONGEST_TOKEN_CHARACTERS = 6;
const HASH_START = 0x811c9dc5;

/** A prompt as the engine sees it. */
export interface TokenizedPrompt {
  readonly count: number;
  /** Hash of everything up to the end of each full block. */
  readonly blockHashes: readonly number[];
  /** Hash of the whole prompt: what the answer is made from. */
  readonly hash: number;
}

/**
 * Splits text into tokens by a fixed rule: leading white space plus at most six other characters. So "a a a" is three
 * tokens, and an ordinary English text has about as many tokens as with a real tokenizer.
 *
 * @param visit called with each token's id; returning false stops the scan
 */
export function scanTokens(text: string, visit: (tokenId: number, start: number, end: number) => boolean): void {
  let at = 0;
  while (at < text.length) {
    const start = at;
    let hash = HASH_START;
    while (at < text.length && isSpace(text.charCodeAt(at))) {
      hash = mix(hash, text.charCodeAt(at));
      at += 1;
    }
    const wordStart = at;
    while (at < text.length && at - wordStart < LONGEST_TOKEN_CHARACTERS && !isSpace(text.charCodeAt(at))) {
      hash = mix(hash, text.charCodeAt(at));
      at += 1;
    }
    if (!visit(hash % VOCABULARY, start, at)) {
      return;
    }
  }
}

/**
 * Counts and hashes a prompt.
 *
 * @param source text, or token ids that the client made itself
 * @param limit.maxTokens counting stops just above this, because a prompt that long is refused anyway
 */
export function tokenizePrompt(
  source: string | readonly number[],
  limit: { readonly maxTokens: number; readonly blockSize: number },
): TokenizedPrompt {
  const blockHashes: number[] = [];
  let count = 0;
  let hash = HASH_START;
  const visit = (tokenId: number) => {
    hash = mix(hash, tokenId);
    count += 1;
    if (count % limit.blockSize === 0) {
      blockHashes.push(hash);
    }
    return count <= limit.maxTokens;
  };
  if (typeof source === "string") {
    scanTokens(source, visit);
  } else {
    source.every(visit);
  }
  return { count, blockHashes, hash };
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
