import { z } from "zod";

/** Fields that both generation endpoints share. Unknown fields are dropped without a word, as vLLM does. */
const generationFields = {
  model: z.string().nullish(),
  max_tokens: z.int().nullish(),
  min_tokens: z.int().min(0).default(0),
  n: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .object({ include_usage: z.boolean().nullish(), continuous_usage_stats: z.boolean().nullish() })
    .nullish(),
  ignore_eos: z.boolean().default(false),
};

const contentPart = z.object({ type: z.string(), text: z.string().optional() });

const message = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(contentPart)]).nullish(),
});

const tool = z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) });

export const chatSchema = z.object({
  ...generationFields,
  messages: z.array(message),
  max_completion_tokens: z.int().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([z.enum(["none", "auto", "required"]), z.object({ function: z.object({ name: z.string() }) })])
    .nullish(),
});

const tokenIds = z.array(z.int().min(0));
const textOrTokens = z.union([z.string(), z.array(z.string()), tokenIds, z.array(tokenIds)]);

export const completionSchema = z.object({
  ...generationFields,
  prompt: textOrTokens,
  logprobs: z.int().min(0).max(20).nullish(),
});

export const responsesSchema = z.object({
  model: z.string().nullish(),
  input: z.union([z.string(), z.array(message)]),
  instructions: z.string().nullish(),
  max_output_tokens: z.int().nullish(),
  stream: z.boolean().nullish(),
  ignore_eos: z.boolean().default(false),
});

export const messagesSchema = z.object({
  model: z.string().nullish(),
  messages: z.array(message),
  system: z.union([z.string(), z.array(contentPart)]).nullish(),
  max_tokens: z.int(),
  stream: z.boolean().nullish(),
});

export const rerankSchema = z.object({
  model: z.string().nullish(),
  query: z.string(),
  documents: z.array(z.string()),
  top_n: z.int().min(0).default(0),
});

export const embeddingSchema = z.object({
  model: z.string().nullish(),
  input: textOrTokens,
  encoding_format: z.enum(["float", "base64"]).default("float"),
  dimensions: z.int().min(1).max(8192).nullish(),
});

export const tokenizeSchema = z.union([
  z.object({ model: z.string().nullish(), prompt: z.string(), return_token_strs: z.boolean().nullish() }),
  z.object({ model: z.string().nullish(), messages: z.array(message), return_token_strs: z.boolean().nullish() }),
]);

export type ChatRequest = z.infer<typeof chatSchema>;
/** The fields of any request for text that decide how much of it there will be. */
export type LengthRequest = Pick<ChatRequest, "min_tokens" | "n" | "stream" | "stream_options" | "ignore_eos">;

/** One prompt for each choice group: a single text, or each of a batch. */
export function promptList(input: z.infer<typeof textOrTokens>): (string | number[])[] {
  if (typeof input === "string") {
    return [input];
  }
  const isTokens = (value: (string | number | number[])[]): value is number[] => typeof value[0] === "number";
  return isTokens(input) ? [input] : input.flatMap((prompt) => (typeof prompt === "number" ? [] : [prompt]));
}

/** The text that the model would see, with a chat template's markers around each message. */
export function chatPrompt(messages: ChatRequest["messages"]): string {
  const turns = messages.map(({ role, content }) => `<|im_start|>${role}\n${contentText(content)}<|im_end|>\n`);
  return `${turns.join("")}<|im_start|>assistant\n`;
}

export function contentText(content: ChatRequest["messages"][number]["content"]): string {
  if (content === null || content === undefined) {
    return "";
  }
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
}
