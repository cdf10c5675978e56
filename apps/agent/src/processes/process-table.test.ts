import { describe, expect, it } from "vitest";
import { parseStat } from "./linux-process-table.ts";
import { isAlive, membersOf, type ProcessEntry, type ProcessTable } from "./process-table.ts";
import { parsePs } from "./ps-process-table.ts";
import { newShardToken, readShardToken } from "./shard-token.ts";

const identity = { pid: 100, startTime: "5000", bootId: "b1", token: "t1" };

function tableOf(entries: readonly (ProcessEntry & { token?: string })[]): ProcessTable {
  return {
    readsTokens: true,
    find: (pid) => entries.find((entry) => entry.pid === pid) ?? null,
    list: () => entries,
    shardToken: (pid) => entries.find((entry) => entry.pid === pid)?.token ?? null,
    ageMs: () => 0,
  };
}

const leader = { pid: 100, groupId: 100, sessionId: 100, startTime: "5000", token: "t1" };

describe("isAlive", () => {
  it.each([
    ["the very process", leader, "b1", true],
    ["another start time: the pid was reused", { ...leader, startTime: "9000" }, "b1", false],
    ["another token", { ...leader, token: "t2" }, "b1", false],
    ["another boot", leader, "b2", false],
    ["no such pid", { ...leader, pid: 101 }, "b1", false],
    ["a process that overwrote its environment and leads its session", { ...leader, token: undefined }, "b1", true],
    ["one without a token in another session", { ...leader, token: undefined, sessionId: 7 }, "b1", false],
  ])("%s", (...[, entry, bootId, expected]) => {
    const { token, ...rest } = entry;
    expect(isAlive(tableOf([token === undefined ? rest : { ...rest, token }]), identity, bootId)).toBe(expected);
  });
});

describe("membersOf", () => {
  const inSession = { pid: 101, groupId: 101, sessionId: 100, startTime: "5001" };
  const escaped = { pid: 102, groupId: 102, sessionId: 102, startTime: "5002", token: "t1" };
  const stranger = { pid: 103, groupId: 103, sessionId: 103, startTime: "5003", token: "t9" };
  const pids = (entries: readonly (ProcessEntry & { token?: string })[], bootId = "b1") =>
    membersOf(tableOf(entries), identity, bootId).map(({ pid }) => pid);

  it("are the session, and who left it with the token", () => {
    expect(pids([leader, inSession, escaped, stranger])).toEqual([100, 101, 102]);
  });

  it("outlive the leader", () => {
    expect(pids([inSession, escaped, stranger])).toEqual([101, 102]);
  });

  it("are only the token's once the leader's pid, and so its session's number, is somebody else's", () => {
    const reused = { ...leader, startTime: "9000", token: "t9" };
    expect(pids([reused, { ...inSession, startTime: "9001" }, escaped])).toEqual([102]);
  });

  it("are none after a reboot", () => {
    expect(pids([leader, inSession], "b2")).toEqual([]);
  });
});

describe("parseStat", () => {
  const stat = (state: string) =>
    `42 (a (bad) name) ${state} 1 42 40 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 11 0 987654 1000 50 18446744073709551615`;
  it("reads past a command that holds spaces and brackets", () => {
    expect(parseStat(stat("S"))).toEqual({ pid: 42, groupId: 42, sessionId: 40, startTime: "987654" });
  });
  it("takes a zombie for gone", () => {
    expect(parseStat(stat("Z"))).toBeNull();
  });
});

describe("parsePs", () => {
  it("reads the columns and leaves zombies out", () => {
    const text = "  501   500 Ss   Mon Nov 30 10:00:00 2026\n  502   500 Z    Mon Nov 30 10:00:01 2026\n";
    expect(parsePs(text)).toEqual([{ pid: 501, groupId: 500, sessionId: 500, startTime: "Mon Nov 30 10:00:00 2026" }]);
  });
});

describe("a shard token", () => {
  it("says whose it is, and is never the same twice", () => {
    const facts = { owner: "abc", key: { replicaId: "a/b-c", generation: 3, rank: 1 }, port: 18_000 };
    const token = newShardToken(facts);
    expect(readShardToken(token)).toEqual(facts);
    expect(newShardToken(facts)).not.toBe(token);
    expect(readShardToken("something else")).toBeNull();
    expect(readShardToken("a/b/x/y/z/r")).toBeNull();
  });
});
