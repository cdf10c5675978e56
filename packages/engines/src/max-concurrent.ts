import type { EngineName } from "@llmgw/domain";

/** The flags by which each engine is told how many requests it runs at once. */
const FLAGS: Readonly<Partial<Record<EngineName, readonly string[]>>> = {
  vllm: ["--max-num-seqs"],
  sim: ["--max-num-seqs"],
  sglang: ["--max-running-requests"],
  llamacpp: ["-np", "--parallel"],
};

/** How many requests an engine with these arguments runs at once; null where they do not say, and its own default holds. */
export function maxConcurrentOf({ name, args }: { name: EngineName; args: readonly string[] }): number | null {
  const flags = FLAGS[name] ?? [];
  let found: number | null = null;
  args.forEach((arg, index) => {
    const [flag = "", inline] = arg.split("=", 2);
    if (!flags.includes(flag)) return;
    const value = Number(inline ?? args[index + 1]);
    if (Number.isSafeInteger(value) && value > 0) found = value; // engines go by the last one
  });
  return found;
}
