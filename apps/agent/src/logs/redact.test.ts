import { describe, expect, it } from "vitest";
import { redact, secretValues } from "./redact.ts";

describe("redact", () => {
  it.each([
    ["'api_key': 'sk-SYNTHETIC123', 'hf_token': 'hf_SYNTHETIC456'", ["sk-SYNTHETIC123", "hf_SYNTHETIC456"]],
    ["HF_TOKEN=hf_SYNTHETIC456", ["hf_SYNTHETIC456"]],
    ["--api-key verysecretvalue --port 1", ["verysecretvalue"]],
    ["api_key=['plainsecret']", ["plainsecret"]],
    ["Authorization: Bearer abc.def-ghi", ["abc.def-ghi"]],
    ["https://user:pa55word@proxy.local:3128/", ["pa55word"]],
    ["password: hunter22", ["hunter22"]],
  ])("hides what looks like a credential in %s", (line, secrets) => {
    const clean = redact(line, []);
    for (const secret of secrets) expect(clean).not.toContain(secret);
    expect(clean).toContain("***");
  });

  it("hides known values wherever they stand, the longest first", () => {
    expect(redact("x=abcdef-long and abcdef", ["abcdef", "abcdef-long"])).toBe("x=*** and ***");
  });

  it("leaves ordinary lines alone", () => {
    const line = "max_tokens: 512, prompt tokens/s 41.2, tokenizer=/models/key, api_key=None";
    expect(redact(line, ["ab"])).toBe(line);
  });

  it("takes for secrets the variables whose names say so", () => {
    expect(secretValues({ HF_TOKEN: "a", NO_PROXY: "localhost", AWS_SECRET_ACCESS_KEY: "b", LANG: "C" })).toEqual([
      "a",
      "b",
    ]);
  });
});
