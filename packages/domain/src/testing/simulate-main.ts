/**
 * Runs the simulation of the control plane for many seeds: `npm run simulate -- --seeds N --steps M [--seed FIRST]`.
 * With `--seeds 1` the run's log is printed. Ends with 1 when a promise was broken, naming the seed that replays it.
 */
import { simulate } from "./simulation/simulate.ts";

function option(name: string, fallback: number): number {
  const index = process.argv.indexOf(`--${name}`);
  if (index === -1) return fallback;
  const value = Number(process.argv[index + 1]);
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`--${name}: expected a whole number above 0, found "${process.argv[index + 1] ?? ""}"`);
  process.exit(2);
}

const seeds = option("seeds", 1_000);
const steps = option("steps", 240);
const first = option("seed", 1);
const startedAtMs = performance.now();
let actions = 0;
for (let seed = first; seed < first + seeds; seed += 1) {
  const result = simulate({ seed, steps });
  if (!result.ok) {
    console.error(result.log.slice(seeds === 1 ? 0 : -60).join("\n"));
    console.error(`\nseed ${seed} (${steps} steps): ${result.why}`);
    console.error(`replay: npm run simulate -- --seeds 1 --seed ${seed} --steps ${steps}`);
    process.exit(1);
  }
  actions += result.actions;
  if (seeds === 1) console.log(result.log.join("\n"));
}
const tookMs = Math.round(performance.now() - startedAtMs);
console.log(`${seeds} seeds × ${steps} steps: every promise held (${actions} log lines, ${tookMs} ms)`);
