import type { LoadStage } from "../../engine/load-script.ts";
import type { EngineLog } from "../openai/engine-log.ts";
import type { ServeSettings } from "../openai/serve-settings.ts";

const SHARDS = 4;

/** The stages of a start with SGLang's milestones, up to the moment before the HTTP port opens. */
export function sglangLoadStages(settings: ServeSettings, log: EngineLog): LoadStage[] {
  const seconds = (share: number) => ((share * settings.sim.loadMs) / 1000).toFixed(2);
  const tokens = settings.kvBlocks * settings.blockSize;
  const say = (message: string) => log.info("EngineCore", "", message);
  return [
    {
      share: 0.1,
      done: () => {
        say(`Init torch distributed ends. elapsed=${seconds(0.1)} s, mem usage=0.10 GB`);
        say("Load weight begin. avail mem=78.47 GB");
      },
    },
    ...Array.from(
      { length: SHARDS },
      (_, index): LoadStage => ({
        share: 0.15,
        stallsHere: index === SHARDS / 2,
        done: () => {
          const percent = String((100 * (index + 1)) / SHARDS).padStart(3);
          log.progress(`Loading safetensors checkpoint shards: ${percent}% Completed | ${index + 1}/${SHARDS}`);
        },
      }),
    ),
    {
      share: 0.1,
      done: () => {
        say(
          `Load weight end. elapsed=${seconds(0.6)} s, type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.36 GB`,
        );
        say(`KV Cache is allocated. #tokens: ${tokens}, K size: 13.03 GB, V size: 13.03 GB`);
        say("Capture cuda graph begin. This can take up to several minutes.");
      },
    },
    {
      share: 0.1,
      done: () => {
        say(`Capture cuda graph end. Time elapsed: ${seconds(0.1)} s.`);
        say(
          `max_total_num_tokens=${tokens}, max_running_requests=${settings.maxNumSeqs}, context_len=${settings.maxModelLen}`,
        );
      },
    },
  ];
}
