import type { ByteSpan } from "./body-scan.ts";

/** Where a prompt's head is cut: a longer common head is a better match. Engines cache prompts by blocks of some hundred bytes. */
const CUTS = [256, 512, 1_024, 2_048, 4_096, 8_192] as const;

/** What ties a request to earlier ones: hashes of ever longer heads of its prompt, or the one of its session. */
export type AffinityKeys = readonly number[];

/**
 * Remembers which endpoint has had what. It is bounded: what has not been asked for longest is forgotten first, so that its
 * memory does not grow with the number of prompts.
 */
export class AffinityTable<E> {
  readonly #maxEntries: number;
  readonly #endpoints = new Map<number, E>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#endpoints.size;
  }

  /** The endpoint of the last key that is known, which is the one of the longest common head. */
  find(keys: AffinityKeys): E | undefined {
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const key = keys[index];
      const endpoint = key === undefined ? undefined : this.#endpoints.get(key);
      if (key === undefined || endpoint === undefined) continue;
      this.#put(key, endpoint);
      return endpoint;
    }
    return undefined;
  }

  /** Notes keys for an endpoint. Known ones stay with the endpoint they have, unless `isMove`. */
  remember(keys: AffinityKeys, endpoint: E, isMove: boolean): void {
    for (const key of keys) {
      if (isMove || !this.#endpoints.has(key)) this.#put(key, endpoint);
    }
  }

  /** Drops what is known of endpoints that are no more. */
  retain(isThere: (endpoint: E) => boolean): void {
    for (const [key, endpoint] of this.#endpoints) if (!isThere(endpoint)) this.#endpoints.delete(key);
  }

  #put(key: number, endpoint: E): void {
    this.#endpoints.delete(key); // a map keeps the order in which keys were set
    this.#endpoints.set(key, endpoint);
    if (this.#endpoints.size <= this.#maxEntries) return;
    const oldest = this.#endpoints.keys().next();
    if (oldest.done !== true) this.#endpoints.delete(oldest.value);
  }
}

/** Hashes of a prompt's head at each cut that it reaches, shortest first; none for a prompt too short for an engine's cache. */
export function prefixKeys(bytes: Uint8Array, { start, end }: ByteSpan): AffinityKeys {
  const keys: number[] = [];
  let hash = newHash();
  let from = start;
  for (const cut of CUTS) {
    const to = start + cut;
    if (to > end) break;
    hash = hashed(hash, bytes.subarray(from, to));
    keys.push(keyOf(hash));
    from = to;
  }
  return keys;
}

/** The hash of what names a session. */
export function sessionKeys(bytes: Uint8Array): AffinityKeys {
  return [keyOf(hashed(newHash(), bytes))];
}

/** A number that says how well an endpoint and a key go together; the same on every router. */
export function rendezvousWeight(key: number, endpointHash: number): number {
  let mixed = Math.imul(((key % 4_294_967_296) | 0) ^ endpointHash, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A 32-bit hash of a name (FNV-1a over its UTF-16 units). */
export function nameHashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return hash | 0;
}

interface Hash {
  readonly low: number;
  readonly high: number;
}

function newHash(): Hash {
  return { low: 0x811c9dc5, high: 0x9747b28c };
}

/** Two multiplicative hashes side by side, by words where it can (FNV-1a's step with two primes). */
function hashed({ low: lowBefore, high: highBefore }: Hash, bytes: Uint8Array): Hash {
  let low = lowBefore;
  let high = highBefore;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    const word =
      (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    low = Math.imul(low ^ word, 0x01000193);
    low ^= low >>> 15;
    high = Math.imul(high ^ word, 0x5bd1e995);
    high ^= high >>> 13;
  }
  for (; at < bytes.length; at += 1) {
    low = Math.imul(low ^ (bytes[at] ?? 0), 0x01000193);
    high = Math.imul(high ^ (bytes[at] ?? 0), 0x5bd1e995);
  }
  return { low, high };
}

/** 53 bits: what a number holds exactly. */
function keyOf({ low, high }: Hash): number {
  return (high >>> 11) * 4_294_967_296 + (low >>> 0);
}
