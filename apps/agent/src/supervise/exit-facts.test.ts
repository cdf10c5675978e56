import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngineRegistry } from "@llmgw/engines";
import { describe, expect, it } from "vitest";
import { exitFacts } from "./exit-facts.ts";

const adapter = createEngineRegistry(null).get("vllm") ?? null;
const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB.";
const wrapper = "RuntimeError: Engine core initialization failed. See root cause above.";

async function factsOf(log: string | Buffer, secrets: readonly string[] = []) {
  const dir = await mkdtemp(join(tmpdir(), "llmgw-exit-"));
  const logPath = join(dir, "1.log");
  await writeFile(logPath, log);
  try {
    return await exitFacts({ logPath, code: 1, signal: null, adapter, secrets });
  } finally {
    await rm(dir, { recursive: true });
  }
}

describe("the facts of an exit", () => {
  it.each([
    ["behind a line of 5 MB", `${oom}\n${"x".repeat(5 * 1024 * 1024)}\n${wrapper}\n`],
    ["coloured", `\u001b[31m${oom}\u001b[0m\n${wrapper}\n`],
    ["among states of a progress bar", `Loading:   0%| | 0/4\rLoading:  50%|██| 2/4\n${oom}\nLoading: 50%|██| 2/4\n`],
    ["with Windows line ends", `${oom}\r\n${wrapper}\r\n`],
    ["after 300 lines of something else", `${oom}\n${"INFO nothing\n".repeat(300)}${wrapper}\n`],
  ])("name the cause that stands in the log %s", async (_, log) => {
    const facts = await factsOf(log);
    expect(facts).toMatchObject({ category: "out_of_memory", cause: expect.stringContaining("CUDA out of memory") });
    expect(facts.tail.every((line) => line.length <= 500)).toBe(true);
  });

  it("survive bytes that are no UTF-8", async () => {
    const log = Buffer.concat([Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from(`${oom} \xff\n`, "latin1")]);
    expect(await factsOf(log)).toMatchObject({ category: "out_of_memory" });
  });

  it("of a log that is one endless line still have a tail", async () => {
    expect((await factsOf("y".repeat(20 * 1024 * 1024))).tail).toHaveLength(1);
  });

  it("hold no secret, known or recognised, in the tail or the cause", async () => {
    const line =
      "non-default args: {'api_key': 'sk-SYNTHETIC123', 'hf_token': 'hf_SYNTHETIC456', 'x': 'plain-secret-1'}";
    const facts = await factsOf(`${line}\nHF_TOKEN=hf_SYNTHETIC456\n${oom} plain-secret-1\n`, ["plain-secret-1"]);
    expect(JSON.stringify(facts)).not.toMatch(/sk-SYNTHETIC123|hf_SYNTHETIC456|plain-secret-1/);
    expect(facts.cause).toContain("***");
  });
});
