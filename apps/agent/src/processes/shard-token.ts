import { randomBytes } from "node:crypto";
import type { ShardKey } from "../supervise/shard-state.ts";

/** What a shard's token says: which agent's process it is, of which start, on which port. */
export interface TokenFacts {
  readonly owner: string;
  readonly key: ShardKey;
  readonly port: number;
}

/**
 * A new token for an engine's environment. The random part proves that a process is the one that was started; the rest
 * lets an agent that lost its records recognise it.
 */
export function newShardToken({ owner, key, port }: TokenFacts): string {
  const parts = [
    owner,
    encodeURIComponent(key.replicaId),
    key.generation,
    key.rank,
    port,
    randomBytes(16).toString("hex"),
  ];
  return parts.join("/");
}

/** Reads a token; null for a text that is none. */
export function readShardToken(token: string): TokenFacts | null {
  const [owner, replica, generation, rank, port, random, ...rest] = token.split("/");
  if (owner === undefined || replica === undefined || random === undefined || rest.length > 0) return null;
  const numbers = [generation, rank, port].map(Number);
  const [generationNumber, rankNumber, portNumber] = numbers;
  if (generationNumber === undefined || rankNumber === undefined || portNumber === undefined) return null;
  if (!numbers.every(Number.isSafeInteger)) return null;
  const key = { replicaId: decodeURIComponent(replica), generation: generationNumber, rank: rankNumber };
  return { owner, key, port: portNumber };
}
