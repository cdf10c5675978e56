import type { LoadStage } from "../../engine/load-script.ts";
import type { EngineLog } from "../openai/engine-log.ts";
import type { ServeSettings } from "../openai/serve-settings.ts";
import { KV_BYTES_PER_TOKEN } from "./settings.ts";

const SHARDS = 4;

/** The stages of a start with vLLM's milestones, up to the moment before the HTTP port opens. */
export function loadStages(settings: ServeSettings, log: EngineLog): LoadStage[] {
  const seconds = (share: number) => ((share * settings.sim.loadMs) / 1000).toFixed(2);
  const capacity = settings.kvBlocks * settings.blockSize;
  const say = (where: string, message: string) => log.info("EngineCore", where, message);
  return [
    {
      share: 0.1,
      done: () => {
        log.info("APIServer", "model.py:547", "Resolved architecture: Qwen3ForCausalLM");
        log.info("APIServer", "model.py:1510", `Using max model len ${settings.maxModelLen}`);
        say("gpu_model_runner.py:2653", `Starting to load model ${settings.model}...`);
        log.progress(shardProgress(0, 0));
      },
    },
    ...Array.from(
      { length: SHARDS },
      (_, index): LoadStage => ({
        share: 0.15,
        stallsHere: index === SHARDS / 2,
        done: () => log.progress(shardProgress(index + 1, 0.15 * settings.sim.loadMs)),
      }),
    ),
    {
      share: 0.05,
      done: () => {
        say("default_loader.py:267", `Loading weights took ${seconds(0.6)} seconds`);
        say("gpu_model_runner.py:2684", `Model loading took 15.27 GiB memory and ${seconds(0.65)} seconds`);
      },
    },
    {
      share: 0.1,
      done: () => {
        const gib = ((capacity * KV_BYTES_PER_TOKEN) / 2 ** 30).toFixed(2);
        const concurrency = (capacity / settings.maxModelLen).toFixed(2);
        say("gpu_worker.py:298", `Available KV cache memory: ${gib} GiB`);
        say("kv_cache_utils.py:1087", `GPU KV cache size: ${grouped(capacity)} tokens`);
        say(
          "kv_cache_utils.py:1091",
          `Maximum concurrency for ${grouped(settings.maxModelLen)} tokens per request: ${concurrency}x`,
        );
      },
    },
    {
      share: 0.1,
      done: () => {
        log.progress("Capturing CUDA graphs (mixed prefill-decode, PIECEWISE): 100%|██████████| 35/35");
        say("gpu_model_runner.py:3480", `Graph capturing finished in ${seconds(0.1)} secs, took 0.54 GiB`);
      },
    },
    {
      share: 0.05,
      done: () =>
        say("core.py:210", `init engine (profile, create kv cache, warmup model) took ${seconds(0.25)} seconds`),
    },
  ];
}

function shardProgress(loaded: number, msPerShard: number): string {
  const percent = String((100 * loaded) / SHARDS).padStart(3);
  const passed = clockText((loaded * msPerShard) / 1000);
  const left = loaded === 0 ? "?" : clockText(((SHARDS - loaded) * msPerShard) / 1000);
  const rate = loaded === 0 ? "?it/s" : `${(1000 / Math.max(1, msPerShard)).toFixed(2)}it/s`;
  return `Loading safetensors checkpoint shards: ${percent}% Completed | ${loaded}/${SHARDS} [${passed}<${left}, ${rate}]`;
}

function clockText(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${String(Math.floor(whole / 60)).padStart(2, "0")}:${String(whole % 60).padStart(2, "0")}`;
}

function grouped(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
