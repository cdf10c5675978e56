/** A source of uniform numbers in [0, 1). */
export type Random = () => number;

/**
 * Seeded generator (mulberry32): the same seed gives the same run, so a failing scenario can be replayed.
 *
 * @param seed any 32-bit integer
 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Standard normal number (Box-Muller). */
export function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}

/** One round of FNV-1a over a 32-bit value, used for block hashes and deterministic answers. */
export function mix(hash: number, value: number): number {
  let mixed = Math.imul(hash ^ (value & 0xffff), 0x01000193);
  mixed = Math.imul(mixed ^ (value >>> 16), 0x01000193);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}
