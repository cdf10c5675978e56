import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { llamacppAdapter } from "./adapter.ts";

/** A recorded start that failed: the log's lines, and the exit code that the recording ends with. */
function recorded(name: string) {
  const text = readFileSync(join(import.meta.dirname, "testing/captures", name), "utf8");
  const lines = text.split("\n").filter((line) => !line.startsWith("$ "));
  const code = /^\[\[exit (\d+)\]\]$/.exec(lines.findLast((line) => line !== "") ?? "")?.[1];
  return { logTail: lines.filter((line) => !line.startsWith("[[")), code: code === undefined ? null : Number(code) };
}

describe("how a real llama-server ends when it cannot start", () => {
  it.each([
    ["fail-missing-model.txt", "model_not_found", "failed to open GGUF file"],
    ["fail-not-a-gguf.txt", "model_not_found", "invalid magic characters"],
    ["fail-empty-file.txt", "model_not_found", "failed to read magic"],
    ["fail-model-is-dir.txt", "model_not_found", "failed to read magic"],
    ["fail-truncated-header.txt", "model_not_found", "failed to read key-value pairs"],
    ["fail-truncated-model.txt", "model_not_found", "data is not within the file bounds"],
    ["fail-missing-tensor.txt", "model_not_found", "tensor 'blk.2.attn_norm.weight' not found"],
    ["fail-kv-alloc.txt", "out_of_memory", "failed to allocate buffer for kv cache"],
    ["fail-port-in-use.txt", "port_in_use", "couldn't bind HTTP server socket"],
    ["fail-bad-flag.txt", "bad_configuration", "error: invalid argument: --no-such-flag"],
    ["fail-bad-value.txt", "bad_configuration", 'error while handling argument "-c"'],
    ["rpc-no-worker-nobacktrace.txt", "crash", "Failed to connect to 127.0.0.1:50151"],
  ] as const)("%s is %s, and the quoted line is the cause and not one of the last", (file, category, cause) => {
    const { logTail, code } = recorded(file);
    const verdict = llamacppAdapter.classifyExit({ code, signal: null, logTail, asked: false });
    expect(verdict).toMatchObject({ category, cause: expect.stringContaining(cause), hint: expect.any(String) });
  });

  it("finds a lost worker's line above the last one", () => {
    const { logTail } = recorded("rpc-worker-killed.log");
    const verdict = llamacppAdapter.classifyExit({ code: 134, signal: null, logTail, asked: false });
    expect(verdict.cause).toContain("Remote RPC server crashed");
  });

  it("knows a worker whose port is taken, though that exits with code 0", () => {
    const logTail = [
      "Failed to create server socket",
      "Starting RPC server v6.0.0",
      "  endpoint       : 127.0.0.1:50153",
    ];
    const verdict = llamacppAdapter.classifyExit({ code: 0, signal: null, logTail, asked: false });
    expect(verdict.category).toBe("port_in_use");
  });
});

describe("what a real llama-server says while it starts", () => {
  it("grows to 1 with its last line", () => {
    const ratios = recorded("start.log").logTail.flatMap((line) => llamacppAdapter.progress(line)?.ratio ?? []);
    expect(ratios).toEqual(ratios.toSorted((a, b) => a - b));
    expect(ratios.length).toBeGreaterThan(3);
    expect(ratios.at(-1)).toBe(1);
  });
});

describe("the work that a real llama-server says it has", () => {
  it("is its busy slots and its queue, with the count of its steps", () => {
    expect(llamacppAdapter.work(recorded("metrics-busy.txt").logTail.join("\n"))).toEqual({
      running: 2,
      waiting: 3,
      steps: 38,
    });
    expect(llamacppAdapter.work(recorded("metrics-idle.txt").logTail.join("\n"))).toMatchObject({
      running: 0,
      waiting: 0,
    });
  });

  it.each(["metrics-loading.txt", "metrics-not-enabled.txt"])("is unknown, never 0, from %s", (file) => {
    expect(llamacppAdapter.work(recorded(file).logTail.join("\n"))).toBeNull();
  });
});
