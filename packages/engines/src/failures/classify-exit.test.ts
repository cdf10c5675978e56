import type { EngineName } from "@llmgw/domain";
import { describe, expect, it } from "vitest";
import { classifyExit } from "./classify-exit.ts";
import { failureRules } from "./rules.ts";
import { failureSamples } from "./testing/samples.ts";

const healthyLines = [
  "(APIServer pid=1) INFO 04-19 10:45:24 [utils.py:233] non-default args: {'port': 18000}",
  "(EngineCore pid=81) INFO 04-19 10:47:05 [loader.py:12] Loading weights took 71.20 seconds",
  "INFO:     Application startup complete.",
];
/** What engines print after their first error: the cause is never the last line. */
const wrapperLines = [
  "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
  "[rank0]:[W] Warning: WARNING: destroy_process_group() was not called before program exit",
];

function ended(logTail: readonly string[], how: { code?: number; signal?: string } = { code: 1 }) {
  return { code: how.code ?? null, signal: how.signal ?? null, logTail, asked: false };
}

describe("classifyExit", () => {
  it.each(failureSamples)("recognises $rule", ({ rule: id, engine, log }) => {
    const rule = failureRules.find((candidate) => candidate.id === id);
    const tail = [...healthyLines, ...log.split("\n"), ...wrapperLines];
    const verdict = classifyExit(engine as EngineName, ended(tail));
    expect(verdict.category).toBe(rule?.category);
    expect(verdict.cause).toContain(rule?.cause);
    expect(verdict.hint).toBe(rule?.hint);
  });

  it("quotes the line that decided, not the last one", () => {
    const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB.";
    expect(classifyExit("vllm", ended([...healthyLines, oom, ...wrapperLines])).cause).toContain(oom);
  });

  it("does not take another engine's rule", () => {
    const line = "Failed to connect to 10.0.0.12:50052";
    expect(classifyExit("llamacpp", ended([line])).cause).toContain("rpc-server");
    expect(classifyExit("vllm", ended([line])).cause).not.toContain("rpc-server");
  });

  it("calls an end that was asked for stopped, whatever the log says", () => {
    const exit = { code: null, signal: "SIGKILL", logTail: wrapperLines, asked: true };
    expect(classifyExit("vllm", exit).category).toBe("stopped");
  });

  it.each([
    [{ signal: "SIGKILL" }, "killed", "signal 9"],
    [{ code: 137 }, "killed", "signal 9"],
    [{ signal: "SIGTERM" }, "killed", "SIGTERM"],
    [{ signal: "SIGSEGV" }, "crash", "SIGSEGV"],
    [{ code: 139 }, "crash", "139"],
    [{ code: 0 }, "crash", "exit code 0"],
    [{ code: 3 }, "crash", "exit code 3"],
    [{}, "unknown", "exit code is unknown"],
  ] as const)("falls back on the status %j", (how, category, said) => {
    const verdict = classifyExit("vllm", { ...ended(healthyLines, how) });
    expect(verdict.category).toBe(category);
    expect(verdict.cause).toContain(said);
    expect(verdict.cause).toContain("Application startup complete");
  });
});
