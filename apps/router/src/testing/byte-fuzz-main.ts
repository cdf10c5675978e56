/** `npm run check:host -- router-bytes [count] [first seed]`: the byte fuzz over many seeds. */
import { fuzzBytes } from "./byte-fuzz.ts";

const [count = 10_000, first = 1] = process.argv.slice(2).map(Number);
const BATCH = 500;
let failed = 0;
for (let done = 0; done < count; done += BATCH) {
  const size = Math.min(BATCH, count - done);
  const problems = await fuzzBytes(Array.from({ length: size }, (_, index) => first + done + index));
  failed += problems.length;
  for (const { seed, what } of problems) console.log(`seed ${seed}: ${what}`);
  console.log(`${done + size} of ${count} exchanges, ${failed} with other bytes`);
}
process.exitCode = failed === 0 ? 0 : 1;
