import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { embed, generateText, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DialectEngine } from "./harness/dialect-engine.ts";
import { LoneRouter } from "./harness/lone-router.ts";

/** The clients that people use, as they are, against a real router. */

let engine: DialectEngine;
let router: LoneRouter;

beforeAll(async () => {
  engine = await DialectEngine.start();
  router = await LoneRouter.start({
    keys: [{ id: "one", secret: "sk-one", models: ["*"] }],
    models: [{ id: "m1", endpoints: [{ id: "r1", url: engine.url, engine: "none" }] }],
    breaker: { failures: 1_000, ratioMinRequests: 10_000 },
  });
});
afterAll(async () => {
  await router[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
});

const user = (content: string) => [{ role: "user" as const, content }];

describe("OpenAI's library", () => {
  const open = (apiKey = "sk-one", maxRetries = 0) => new OpenAI({ apiKey, baseURL: `${router.url}/v1`, maxRetries });

  test("chats, streams, and lists models", async () => {
    const client = open();
    const whole = await client.chat.completions.create({ model: "m1", messages: user("hi") });
    expect([whole.choices[0]?.message.content, whole.usage?.total_tokens]).toEqual(["Hello 世界", 5]);
    let text = "";
    for await (const part of await client.chat.completions.create({
      model: "m1",
      messages: user("hi"),
      stream: true,
    })) {
      text += part.choices[0]?.delta.content ?? "";
    }
    expect(text).toBe("Hello 世界");
    const models = await client.models.list();
    expect(models.data.map(({ id }) => id)).toEqual(["m1"]);
    expect(engine.seen.every(({ headers }) => !JSON.stringify(headers).includes("sk-one"))).toBe(true);
  });

  test("calls tools, streamed and not", async () => {
    const tools = [{ type: "function" as const, function: { name: "weather", parameters: { type: "object" } } }];
    const request = { model: "m1", messages: user("tool"), tools };
    const whole = await open().chat.completions.create(request);
    expect(whole.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { arguments: '{"city":"北京"}' } });
    const streamed = await open().chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: "weather" } });
  });

  test("embeds, and uploads audio", async () => {
    const embedding = await open().embeddings.create({ model: "m1", input: "hi", encoding_format: "float" });
    expect(embedding.data[0]?.embedding).toEqual([0.5, -0.25, 1]);
    const file = new File([new Uint8Array(300_000).fill(255)], "a.wav", { type: "audio/wav" });
    const heard = await open().audio.transcriptions.create({ model: "m1", file });
    expect(heard.text).toBe("hello there");
    expect(engine.seen.at(-1)?.body.length).toBeGreaterThan(300_000);
  });

  test("ends the engine's work when its stream is aborted", async () => {
    const stream = await open().chat.completions.create({ model: "m1", messages: user("endless"), stream: true });
    let parts = 0;
    for await (const _part of stream) {
      parts += 1;
      if (parts === 5) stream.controller.abort();
    }
    await engine.seen.at(-1)?.aborted;
    expect(parts).toBeGreaterThanOrEqual(5);
  });

  test("throws its own kind of error for each of the router's", async () => {
    const chat = (client: OpenAI, model: string, content = "hi") =>
      client.chat.completions.create({ model, messages: user(content) });
    await expect(chat(open("sk-wrong"), "m1")).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(chat(open(), "nope")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(chat(open(), "nope")).rejects.toMatchObject({ status: 404, code: "model_not_found", param: "model" });
    await expect(chat(open(), "")).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(chat(open(), "m1", "busy")).rejects.toMatchObject({ status: 429 });
    const broken = await open().chat.completions.create({ model: "m1", messages: user("broken"), stream: true });
    const read = async () => {
      for await (const _part of broken);
    };
    await expect(read()).rejects.toMatchObject({ code: "stream_interrupted" });
  });

  test("waits as long as Retry-After says before it tries again", async () => {
    const before = engine.seen.length;
    const startMs = performance.now();
    await expect(
      open("sk-one", 1).chat.completions.create({ model: "m1", messages: user("busy") }),
    ).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    expect(engine.seen.length - before).toBe(2);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(990);
  });
});

describe("Anthropic's library", () => {
  const open = (apiKey = "sk-one") => new Anthropic({ apiKey, baseURL: router.url, maxRetries: 0 });
  const request = (content: string) => ({ model: "m1", max_tokens: 10, messages: user(content) });

  test("asks and streams", async () => {
    const whole = await open().messages.create(request("hi"));
    expect(whole.content[0]).toMatchObject({ type: "text", text: "Hello 世界" });
    const final = await open().messages.stream(request("hi")).finalMessage();
    expect(final.content[0]).toMatchObject({ text: "Hello 世界" });
    expect(final.usage).toMatchObject({ input_tokens: 3, output_tokens: 2 });
  });

  test("throws its own kind of error for each of the router's", async () => {
    await expect(open("sk-wrong").messages.create(request("hi"))).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await expect(open().messages.create({ ...request("hi"), model: "nope" })).rejects.toBeInstanceOf(
      Anthropic.NotFoundError,
    );
    await expect(open().messages.stream(request("broken")).finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError);
  });
});

describe("Vercel's AI SDK", () => {
  const provider = (apiKey = "sk-one") =>
    createOpenAICompatible({ name: "llmgw", apiKey, baseURL: `${router.url}/v1` });

  test("generates, streams, calls tools and embeds", async () => {
    const model = provider()("m1");
    const { text } = await generateText({ model, prompt: "hi" });
    expect(text).toBe("Hello 世界");
    let streamed = "";
    for await (const part of streamText({ model, prompt: "hi" }).textStream) streamed += part;
    expect(streamed).toBe("Hello 世界");
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({ type: "object" }),
      execute: ({ city }) => Promise.resolve(`rain in ${city}`),
    });
    const { toolCalls } = await generateText({ model, prompt: "tool", tools: { weather } });
    expect(toolCalls[0]).toMatchObject({ toolName: "weather", input: { city: "北京" } });
    const { embedding } = await embed({ model: provider().embeddingModel("m1"), value: "hi" });
    expect(embedding).toEqual([0.5, -0.25, 1]);
  });

  test("says what was wrong", async () => {
    await expect(generateText({ model: provider()("nope"), prompt: "hi", maxRetries: 0 })).rejects.toMatchObject({
      statusCode: 404,
      message: expect.stringContaining("nope"),
    });
  });
});
