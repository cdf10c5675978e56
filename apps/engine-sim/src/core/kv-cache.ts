/**
 * KV cache accounting in blocks, with a prefix cache, after vLLM's block pool: full blocks of a prompt are known by the
 * hash of everything up to their end; a block nobody uses stays cached until its space is needed, oldest first.
 */
export interface KvCache {
  /** Takes blocks for `tokens` tokens, or nothing at all when they do not fit. */
  allocate(tokens: number, prefixHashes: readonly number[]): KvAllocation | undefined;
  /** Makes room for `tokens` tokens in total; false, and nothing taken, when the cache is full. */
  grow(allocation: KvAllocation, tokens: number): boolean;
  free(allocation: KvAllocation): void;
  /** Part of the blocks in use, 0..1. Blocks that are only cached count as free, as vLLM counts them. */
  usageRatio(): number;
  usedBlocks(): number;
  readonly capacityTokens: number;
}

export interface KvAllocation {
  /** Prompt tokens that were found in the prefix cache. */
  readonly cachedTokens: number;
  readonly hashes: readonly number[];
  privateBlocks: number;
}

export interface KvCacheOptions {
  readonly blocks: number;
  readonly blockSize: number;
  readonly prefixCaching: boolean;
}

export function createKvCache(options: KvCacheOptions): KvCache {
  const { blocks, blockSize } = options;
  /** Users of each hashed block; a block with no user is also in `idle`, in the order it became so. */
  const users = new Map<number, number>();
  const idle = new Set<number>();
  let privateBlocks = 0;

  const used = () => privateBlocks + users.size - idle.size;
  const evictIdle = () => {
    for (const hash of idle) {
      if (privateBlocks + users.size <= blocks) {
        return;
      }
      idle.delete(hash);
      users.delete(hash);
    }
  };

  return {
    capacityTokens: blocks * blockSize,
    usedBlocks: used,
    usageRatio: () => used() / blocks,

    allocate(tokens, prefixHashes) {
      const needed = Math.ceil(tokens / blockSize);
      const hashes = options.prefixCaching ? [...new Set(prefixHashes.slice(0, needed))] : [];
      // The last token is always computed, or there would be nothing to predict the next one from.
      const hitLimit = Math.floor((tokens - 1) / blockSize);
      let hits = 0;
      let idleHits = 0;
      for (const hash of hashes) {
        if (hits === hitLimit || !users.has(hash)) {
          break;
        }
        hits += 1;
        idleHits += idle.has(hash) ? 1 : 0;
      }
      if (needed - hits > blocks - used() - idleHits) {
        return undefined;
      }
      // A hash that already exists but is no hit is another copy: it cannot be registered twice.
      const registered = hashes.filter((hash, index) => index < hits || !users.has(hash));
      for (const hash of registered) {
        idle.delete(hash);
        users.set(hash, (users.get(hash) ?? 0) + 1);
      }
      const allocation = {
        cachedTokens: hits * blockSize,
        hashes: registered,
        privateBlocks: needed - registered.length,
      };
      privateBlocks += allocation.privateBlocks;
      evictIdle();
      return allocation;
    },

    grow(allocation, tokens) {
      const missing = Math.ceil(tokens / blockSize) - allocation.hashes.length - allocation.privateBlocks;
      if (missing <= 0) {
        return true;
      }
      if (missing > blocks - used()) {
        return false;
      }
      allocation.privateBlocks += missing;
      privateBlocks += missing;
      evictIdle();
      return true;
    },

    free(allocation) {
      privateBlocks -= allocation.privateBlocks;
      allocation.privateBlocks = 0;
      for (const hash of allocation.hashes) {
        const left = (users.get(hash) ?? 0) - 1;
        users.set(hash, left);
        if (left === 0) {
          idle.add(hash);
        }
      }
    },
  };
}
