import { describe, expect, it } from "vitest";
import type { ServeSettings } from "../openai/serve-settings.ts";
import { parseVllmCommandLine } from "./command-line.ts";
import { vllmFlags } from "./flags.ts";
import { configurationError, kvCacheError } from "./settings.ts";

const parse = (line: string, environment: { apiKey?: string; faults?: string } = {}) =>
  parseVllmCommandLine(line.split(" "), { apiKey: environment.apiKey, faults: environment.faults });

function settingsOf(line: string, environment: { apiKey?: string; faults?: string } = {}): ServeSettings {
  const parsed = parse(line, environment);
  if (parsed.kind !== "serve") {
    throw new Error(`expected '${line}' to be accepted, got ${JSON.stringify(parsed)}`);
  }
  return parsed.settings;
}

describe("vllm command line", () => {
  it.each([
    "serve /models/m --host 10.0.0.1 --port 18000 --served-model-name a b --tensor-parallel-size 2 --pipeline-parallel-size 1",
    "serve m --gpu-memory-utilization 0.9 --max-model-len 8192 --max-num-seqs 64 --shutdown-timeout 30",
    "serve m --disable-access-log-for-endpoints /metrics --enable-prompt-tokens-details --enable-server-load-tracking",
    "serve m --nnodes 2 --node-rank 1 --master-addr 10.0.0.1 --master-port 29501 --headless --distributed-executor-backend mp",
    "serve m --data-parallel-size 4 --data-parallel-size-local 2 --data-parallel-start-rank 2 --data-parallel-address h --data-parallel-rpc-port 13345",
    "serve m --max-num-queued-reqs 10 --max-num-queued-tokens 1000 --enable-sleep-mode --scheduling-policy priority",
    'serve m --speculative-config {"method":"ngram"} --quantization fp8 --trust-remote-code --enforce-eager --dtype auto',
  ])("accepts %s", (line) => {
    expect(parse(line).kind).toBe("serve");
  });

  it("answers an unknown flag with vLLM's own words", () => {
    expect(parse("serve m --foo")).toEqual({
      kind: "usage",
      text: "usage: vllm [-h] [-v] {serve} ...\nvllm: error: unrecognized arguments: --foo\n",
    });
  });

  it("names an unknown fault and the known ones", () => {
    const parsed = parse("serve m --sim-fail explode");
    expect(parsed).toMatchObject({ kind: "usage" });
    expect(parsed.kind === "usage" && parsed.text).toContain("unknown fault 'explode'; write one of: crash-at-start");
  });

  it("takes the API key from the environment unless a flag gives one", () => {
    expect(settingsOf("serve m", { apiKey: "from-env" }).apiKeys).toEqual(["from-env"]);
    expect(settingsOf("serve m --api-key a b", { apiKey: "from-env" }).apiKeys).toEqual(["a", "b"]);
    expect(settingsOf("serve m").apiKeys).toEqual([]);
  });

  it("adds the faults of the environment to those of the flags", () => {
    const { faults } = settingsOf("serve m --sim-fail hang", { faults: "status:503:every:5, slow-load:10x" }).sim;
    expect(faults.map((fault) => fault.kind)).toEqual(["status", "slow-load", "hang"]);
  });

  it("serves the model under its own name when no other is given", () => {
    expect(settingsOf("serve /models/m").servedNames).toEqual(["/models/m"]);
  });

  it("refuses a KV cache that cannot hold one full request, and only then", () => {
    expect(kvCacheError(settingsOf("serve m --max-model-len 8192 --sim-kv-tokens 8192"))).toBeUndefined();
    expect(kvCacheError(settingsOf("serve m --max-model-len 8192 --sim-kv-tokens 4096"))).toContain(
      "the estimated maximum model length is 4096",
    );
  });

  it("refuses more tensor-parallel ranks than it was given GPUs", () => {
    const gpus = "--sim-claims-dir /tmp/x --sim-vram-mib 1 --sim-gpus SIM-1";
    expect(configurationError(settingsOf(`serve m -tp 1 ${gpus}`))).toBeUndefined();
    expect(configurationError(settingsOf(`serve m -tp 2 ${gpus}`))).toContain(
      "World size (2) is larger than the number of available GPUs (1)",
    );
  });

  it("declares no flag twice", () => {
    const names = vllmFlags().flatMap((flag) => [flag.name, ...(flag.aliases ?? [])]);
    expect(names.length).toBeGreaterThan(150);
    expect(new Set(names).size).toBe(names.length);
  });
});
