import type { DrainView, MoveView } from "@llmgw/api";
import { expect, test } from "vitest";
import { Progress } from "./progress.ts";

const move: MoveView = {
  ...{ replicaId: "m-old", modelId: "m", replacementId: "m-new", target: "sim-2 GPU 1", step: "loading" },
  ...{
    stepForMs: 0,
    nextStep: null,
    deadlineAt: null,
    stepAt: {},
    reason: null,
    loadRatio: 0.1,
    inflight: 3,
    lost: false,
  },
};
const proving = (forMs: number): MoveView => ({
  ...move,
  step: "replacementServing",
  reason: { code: "proving_replacement", params: { replica: "m-new", forMs, needMs: 10_000 } },
});
const drain = (one: MoveView): DrainView => ({
  ...{
    id: "drain_1",
    nodeId: "n",
    nodeName: "sim-1",
    scope: "node",
    gpuUuid: null,
    replicaId: null,
    by: "me",
    reason: "",
  },
  ...{
    startedAt: "",
    deadlineAt: "",
    forcedAt: null,
    forcedBy: null,
    endedAt: null,
    result: null,
    losses: [],
    surges: [],
  },
  ...{ unconfirmedShards: 0, waitingFor: one.reason, moves: [one] },
});
const seen = [move, { ...move, loadRatio: 0.6 }, proving(0), proving(1_000), proving(2_000)].map(drain);

function shown(isTTY: boolean): string {
  let text = "";
  const write = (more: string) => (text += more);
  const progress = new Progress({ isTTY, columns: 200, write }, () => new Date(0));
  for (const one of seen) progress.show(one);
  return text;
}

test("what is piped has a line for each step, not for each second", () => {
  const lines = shown(false).trimEnd().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain("replacement loading 10 %");
  expect(lines[1]).toContain("m-new has served for");
  expect(lines[1]).toContain("the original stops taking requests after that");
});

test("a terminal's last line is written anew with what changes by the second", () => {
  const text = shown(true);
  expect(text.split("\n")).toHaveLength(3);
  expect(text).toContain("60 %");
  expect(text.split("\r\u001b[K")).toHaveLength(6);
});
