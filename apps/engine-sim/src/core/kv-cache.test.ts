import { describe, expect, it } from "vitest";
import { createKvCache } from "./kv-cache.ts";

const cache = (blocks: number, prefixCaching = true) => createKvCache({ blocks, blockSize: 16, prefixCaching });

describe("KV cache", () => {
  it("counts a shared prefix once while it is in use, and not at all when only cached", () => {
    const kv = cache(10);
    const first = kv.allocate(40, [1, 2]);
    const second = kv.allocate(40, [1, 2]);
    expect(second?.cachedTokens).toBe(32);
    expect(kv.usedBlocks()).toBe(4);
    for (const allocation of [first, second]) {
      if (allocation !== undefined) {
        kv.free(allocation);
      }
    }
    expect(kv.usageRatio()).toBe(0);
    expect(kv.allocate(40, [1, 2])?.cachedTokens).toBe(32);
  });

  it("takes nothing when a request does not fit", () => {
    const kv = cache(4);
    kv.allocate(40, []);
    expect(kv.allocate(33, [5, 6])).toBeUndefined();
    expect(kv.usedBlocks()).toBe(3);
  });

  it("gives up cached blocks that nobody uses when the space is needed", () => {
    const kv = cache(4);
    const old = kv.allocate(64, [1, 2, 3, 4]);
    if (old === undefined) {
      throw new Error("an empty cache of 4 blocks must hold 64 tokens");
    }
    kv.free(old);
    expect(kv.allocate(64, [9, 8, 7, 6])?.cachedTokens).toBe(0);
    expect(kv.usageRatio()).toBe(1);
  });

  it("always leaves the last token to compute", () => {
    const kv = cache(10);
    kv.allocate(32, [1, 2]);
    expect(kv.allocate(32, [1, 2])?.cachedTokens).toBe(16);
  });

  it("finds nothing with prefix caching off", () => {
    const kv = cache(10, false);
    kv.allocate(40, [1, 2]);
    expect(kv.allocate(40, [1, 2])?.cachedTokens).toBe(0);
  });
});
