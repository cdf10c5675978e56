import { flagValues } from "../../cli/flag-values.ts";
import type { FlagValue } from "../../cli/parse-flags.ts";
import { parseFlags } from "../../cli/parse-flags.ts";
import { readSimSettings, SIM_FLAGS, type SimSettings } from "../../cli/sim-flags.ts";

type Kind = "string" | "int" | "float" | "switch";

/** Flags of llama-server (tools/server/README.md) by kind, names of one flag joined by `|`; the first group has an effect. */
const FLAGS: Readonly<Record<Kind, string>> = {
  string: `
    -m|--model -hf|-hfr|--hf-repo --host -a|--alias --api-key --api-key-file --rpc -ngl|--gpu-layers|--n-gpu-layers
    -fit|--fit -sm|--split-mode -ts|--tensor-split -dev|--device -fa|--flash-attn -ctk|--cache-type-k
    -ctv|--cache-type-v -hff|--hf-file -hft|--hf-token -mu|--model-url --chat-template --chat-template-file --pooling
    --rope-scaling --numa --reasoning-format --lora -md|--model-draft --override-kv -ot|--override-tensor
    --slot-save-path --log-file --log-colors --grammar --samplers --mmproj --path --tags --models-dir -fitt|--fit-target
    -C|--cpu-mask --media-path --chat-template-kwargs`,
  int: `
    --port -c|--ctx-size -np|--parallel --sse-ping-interval -n|--predict|--n-predict -b|--batch-size -ub|--ubatch-size
    -t|--threads -tb|--threads-batch -mg|--main-gpu -s|--seed -to|--timeout --threads-http --cache-reuse -lv|--verbosity
    -fitc|--fit-ctx --sleep-idle-seconds -ncmoe|--n-cpu-moe --keep -cram|--cache-ram --spec-draft-n-max --prio --poll
    --cache-idle-slots --slot-prompt-similarity`,
  float:
    "--temp --top-p --min-p --repeat-penalty --presence-penalty --frequency-penalty --rope-freq-base --rope-freq-scale",
  switch: `
    --metrics --slots --no-slots --embedding|--embeddings --reranking|--rerank --props --no-webui --webui --jinja
    --no-jinja --mlock --no-mmap --mmap -kvu|--kv-unified -no-kvu|--no-kv-unified -cb|--cont-batching
    -nocb|--no-cont-batching --no-warmup --warmup --swa-full --no-context-shift --context-shift --check-tensors
    --verbose-prompt -v|--verbose --log-disable --log-timestamps --log-prefix --offline --cpu-moe --no-kv-offload
    --direct-io --no-host --special --no-perf`,
};

/** What llama-server was asked to do. */
export interface LlamaSettings {
  readonly model: string;
  readonly alias: string;
  readonly host: string;
  readonly port: number;
  readonly apiKey: string | undefined;
  readonly metrics: boolean;
  readonly slots: boolean;
  readonly embeddings: boolean;
  readonly parallel: number;
  /** All slots share one cache, and each reports all of it as its own. */
  readonly unified: boolean;
  /** Context of one slot; of all together when it is shared. */
  readonly slotContext: number;
  readonly pingMs: number;
  readonly workers: readonly { readonly host: string; readonly port: number }[];
  readonly sim: SimSettings;
}

export type LlamaArguments =
  | { readonly kind: "serve"; readonly settings: LlamaSettings }
  /** Text for stderr; the exit code is 1. */
  | { readonly kind: "refused"; readonly text: string };

const DEFAULT_CONTEXT = 4_096;
const AUTO_SLOTS = 4;

/** Reads arguments the way llama.cpp's common/arg.cpp does: no `=`, no abbreviations, the last value wins. */
export function parseLlamaArguments(
  argv: readonly string[],
  environment: { readonly apiKey: string | undefined; readonly faults: string | undefined },
): LlamaArguments {
  const index = new Map<string, { name: string; kind: Kind }>();
  for (const kind of ["string", "int", "float", "switch"] as const) {
    for (const group of FLAGS[kind].trim().split(/\s+/)) {
      const names = group.split("|");
      for (const name of names) index.set(name, { name: names.at(-1) ?? name, kind });
    }
  }
  const values = new Map<string, FlagValue>();
  const simWords: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (word.startsWith("--sim-")) {
      simWords.push(word, argv[at + 1] ?? "");
      at += 1;
      continue;
    }
    const flag = index.get(word);
    if (flag === undefined) return { kind: "refused", text: `error: invalid argument: ${word}\n` };
    if (flag.kind === "switch") {
      values.set(flag.name, true);
      continue;
    }
    at += 1;
    const text = argv[at];
    if (text === undefined) return refusedValue(word, "expected value for argument");
    if (flag.kind === "string") values.set(flag.name, text);
    else {
      const number = Number.parseFloat(text);
      if (!Number.isFinite(number)) return refusedValue(word, flag.kind === "int" ? "stoi" : "stof");
      values.set(flag.name, flag.kind === "int" ? Math.trunc(number) : number);
    }
  }
  const simFlags = parseFlags(simWords, SIM_FLAGS, 0);
  if (simFlags.kind !== "parsed") return { kind: "refused", text: "error: bad --sim-* argument\n" };
  const sim = readSimSettings(flagValues(simFlags.values), environment.faults);
  if (sim.kind === "invalid") return { kind: "refused", text: `error: ${sim.message}\n` };
  return settingsOf(values, sim.settings, environment.apiKey);
}

function settingsOf(
  values: ReadonlyMap<string, FlagValue>,
  sim: SimSettings,
  envApiKey: string | undefined,
): LlamaArguments {
  const flags = flagValues(values);
  const model = flags.string("--model") ?? flags.string("--hf-repo");
  if (model === undefined) return { kind: "refused", text: "error: --model is required\n" };
  const given = flags.number("--parallel") ?? -1;
  const parallel = given > 0 ? given : AUTO_SLOTS;
  const unified = flags.boolean("--kv-unified") ?? (given <= 0 && flags.boolean("--no-kv-unified") !== true);
  const asked = flags.number("--ctx-size") ?? 0;
  const total = asked > 0 ? asked : DEFAULT_CONTEXT;
  return {
    kind: "serve",
    settings: {
      model,
      alias: flags.string("--alias") ?? model,
      host: flags.string("--host") ?? "127.0.0.1",
      port: flags.number("--port") ?? 8080,
      apiKey: flags.string("--api-key") ?? envApiKey,
      metrics: flags.boolean("--metrics") ?? false,
      slots: flags.boolean("--no-slots") !== true,
      embeddings: flags.boolean("--embeddings") ?? false,
      parallel,
      unified,
      slotContext: unified ? total : Math.floor(total / parallel),
      pingMs: (flags.number("--sse-ping-interval") ?? 30) * 1000,
      workers: (flags.string("--rpc") ?? "").split(",").flatMap((address) => {
        const match = /^(.*):(\d+)$/.exec(address);
        return match === null ? [] : [{ host: match[1] ?? "", port: Number(match[2]) }];
      }),
      sim,
    },
  };
}

function refusedValue(flag: string, problem: string): LlamaArguments {
  const help = "\nusage:\n\nto show complete usage, run with -h\n";
  return { kind: "refused", text: `error while handling argument "${flag}": ${problem}\n${help}` };
}
