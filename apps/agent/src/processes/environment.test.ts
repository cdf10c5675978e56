import { describe, expect, it } from "vitest";
import { engineEnvironment, parseEnvFile } from "./environment.ts";

describe("engineEnvironment", () => {
  it("takes four variables of the agent's own and no more; the adapter wins over the model, the token over all", () => {
    const environment = engineEnvironment({
      own: { PATH: "/bin", HOME: "/root", LANG: undefined, LLMGW_JOIN_TOKEN: "secret", CUDA_VISIBLE_DEVICES: "2" },
      file: { HF_TOKEN: "a" },
      model: { VLLM_API_KEY: "mine", LLMGW_SHARD_TOKEN: "forged", OMP_NUM_THREADS: "1" },
      adapter: { VLLM_API_KEY: "sk-1" },
      token: "token-1",
    });
    expect(environment).toEqual({
      PATH: "/bin",
      HOME: "/root",
      HF_TOKEN: "a",
      OMP_NUM_THREADS: "1",
      VLLM_API_KEY: "sk-1",
      LLMGW_SHARD_TOKEN: "token-1",
    });
  });
});

describe("parseEnvFile", () => {
  it("reads names and values, quotes, export, comments and blank lines", () => {
    const text = `# tokens\nHF_TOKEN=hf_x\r\nexport HTTPS_PROXY="http://p:1"\n\nEMPTY=\nEQUALS=a=b\n`;
    expect(parseEnvFile(text, "f")).toEqual({ HF_TOKEN: "hf_x", HTTPS_PROXY: "http://p:1", EMPTY: "", EQUALS: "a=b" });
  });

  it("names the file and the line that is none of these, without showing it", () => {
    expect(() => parseEnvFile("A=1\nhf_secretsecret\n", "engine.env")).toThrow(
      /^engine\.env, line 2: expected NAME=value$/,
    );
  });
});
