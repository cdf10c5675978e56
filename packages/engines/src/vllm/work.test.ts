import { describe, expect, it } from "vitest";
import { vllmWork } from "./work.ts";

const page = (running: string, waiting: string) => `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} ${running}
vllm:num_requests_waiting{engine="0",model_name="m"} ${waiting}
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 0.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="deferred"} 1.0
`;

describe("vllmWork", () => {
  it("counts a deferred request as work: an engine that holds one is not idle", () => {
    expect(vllmWork(page("0.0", "1.0"))).toMatchObject({ running: 0, waiting: 1 });
  });

  it("counts a prompt that is being read as a step, though no token comes of it yet", () => {
    const steps = (tokens: number, cache: number) =>
      vllmWork(`${page("1.0", "0.0")}vllm:generation_tokens_total ${tokens}\nvllm:kv_cache_usage_perc ${cache}\n`)
        ?.steps;
    expect(steps(10, 0.2)).not.toBe(steps(10, 0.1));
    expect(steps(11, 0.1)).not.toBe(steps(10, 0.1));
    expect(steps(10, 0.1)).toBe(steps(10, 0.1));
  });

  it("never takes an unknown for 0", () => {
    expect(vllmWork(page("NaN", "0.0"))).toBeNull();
    expect(vllmWork("vllm:num_requests_running 0.0\n")).toBeNull();
    expect(vllmWork("<html>")).toBeNull();
  });
});
