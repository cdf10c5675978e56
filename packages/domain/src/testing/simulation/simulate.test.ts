import { expect, test } from "vitest";
import { simulate } from "./simulate.ts";

const seeds = 200;
const steps = 80;

test(`every promise of the control plane holds in ${seeds} random runs`, { timeout: 180_000 }, () => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const result = simulate({ seed, steps });
    if (result.ok) continue;
    const replay = `npm run simulate -- --seeds 1 --seed ${seed} --steps ${steps}`;
    throw new Error(`seed ${seed}: ${result.why}\nreplay: ${replay}\n${result.log.slice(-40).join("\n")}`);
  }
});

test("the same seed gives the same run", () => {
  expect(simulate({ seed: 7, steps: 60 })).toEqual(simulate({ seed: 7, steps: 60 }));
});
