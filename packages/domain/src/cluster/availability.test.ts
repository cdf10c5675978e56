import { describe, expect, it } from "vitest";
import { aCordon, aDrain, aNode, testNowMs } from "../testing/index.ts";
import { nodeAvailability } from "./availability.ts";
import type { DrainResult } from "./drain.ts";

const ended = (result: DrainResult, endedAtMs = testNowMs - 1_000) => aDrain({ endedAtMs, result });
const drainCordon = aCordon({ id: "c2", owner: "drain", drainId: "drain_node_a" });

describe("availability of a node", () => {
  it("is active with nothing said about it", () => {
    expect(nodeAvailability(aNode(), [])).toBe("active");
  });

  it("is draining while a drain of it is open, whatever else is said", () => {
    expect(nodeAvailability(aNode({ cordons: [aCordon(), drainCordon] }), [aDrain()])).toBe("draining");
    expect(nodeAvailability(aNode(), [aDrain({ nodeId: "node_b" })])).toBe("active");
  });

  it.each(["complete", "completeWithLosses", "unconfirmed"] as const)(
    "is drained after a drain that ended %s, as long as the drain's cordon stands",
    (result) => {
      expect(nodeAvailability(aNode({ cordons: [drainCordon] }), [ended(result)])).toBe("drained");
      expect(nodeAvailability(aNode({ cordons: [aCordon(), drainCordon] }), [ended(result)])).toBe("drained");
      expect(nodeAvailability(aNode(), [ended(result)])).toBe("active");
    },
  );

  it.each(["cancelled", "failed"] as const)(
    "is not drained after a drain that was %s: a cordon it left is a cordon",
    (result) => {
      expect(nodeAvailability(aNode({ cordons: [drainCordon] }), [ended(result)])).toBe("cordoned");
      expect(nodeAvailability(aNode(), [ended(result)])).toBe("active");
    },
  );

  it("goes by the latest drain only", () => {
    const earlier = { ...ended("complete", testNowMs - 9_000), id: "drain_0" };
    const node = aNode({ cordons: [drainCordon] });
    expect(nodeAvailability(node, [earlier, ended("cancelled")])).toBe("cordoned");
    expect(nodeAvailability(node, [ended("cancelled"), earlier])).toBe("cordoned");
  });

  it("is cordoned by an operator's cordon of the whole node, not by health's, flapping's or a single GPU's", () => {
    expect(nodeAvailability(aNode({ cordons: [aCordon()] }), [])).toBe("cordoned");
    for (const owner of ["health", "flapping"] as const) {
      expect(nodeAvailability(aNode({ cordons: [aCordon({ owner })] }), [])).toBe("active");
    }
    expect(nodeAvailability(aNode({ cordons: [aCordon({ gpuUuid: "GPU-node_a-0" })] }), [])).toBe("active");
  });
});
