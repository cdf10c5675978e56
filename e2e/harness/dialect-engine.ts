import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What an engine saw of a request. */
export interface SeenRequest {
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
  /** Resolves when its connection has closed before the answer was whole. */
  readonly aborted: Promise<void>;
}

const chunkOf = (delta: object, finish: string | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m1",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const toolCall = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"北京"}' } };

/**
 * An engine that speaks OpenAI's and Anthropic's dialects with fixed answers, for clients that are not ours. The last user
 * message says what it does: "tool" calls one, "endless" streams for ever, "busy" is refused with 429, "broken" breaks off.
 */
export class DialectEngine implements AsyncDisposable {
  readonly #server: Server;
  readonly seen: SeenRequest[] = [];

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<DialectEngine> {
    const engine = new DialectEngine();
    await new Promise<void>((resolve) => engine.#server.listen(0, "127.0.0.1", resolve));
    return engine;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(Buffer.from(part));
    const body = Buffer.concat(parts).toString("latin1");
    const path = request.url ?? "";
    if (path === "/v1/models") {
      json(response, { object: "list", data: [{ id: "m1", object: "model" }] });
      return;
    }
    const aborted = new Promise<void>((resolve) => {
      response.once("close", () => {
        if (!response.writableEnded) resolve();
      });
    });
    this.seen.push({ path, body, headers: request.headers, aborted });
    if (body.includes("busy")) {
      response.setHeader("retry-after", "1");
      json(response, { error: { message: "full", type: "overloaded", code: 429 } }, 429);
    } else if (path === "/v1/messages") answerMessages(response, body);
    else if (path === "/v1/embeddings") {
      const data = [{ object: "embedding", index: 0, embedding: [0.5, -0.25, 1] }];
      json(response, { object: "list", data, model: "m1", usage: { prompt_tokens: 2, total_tokens: 2 } });
    } else if (path === "/v1/audio/transcriptions") json(response, { text: "hello there" });
    else answerChat(response, body);
  }
}

function answerChat(response: ServerResponse, body: string): void {
  const isTool = body.includes('"tool"');
  if (!body.includes('"stream":true')) {
    const message = isTool
      ? { role: "assistant", content: null, tool_calls: [toolCall] }
      : { role: "assistant", content: "Hello 世界" };
    const choices = [{ index: 0, message, finish_reason: isTool ? "tool_calls" : "stop" }];
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    json(response, { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m1", choices, usage });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (data: object) => response.write(`data: ${JSON.stringify(data)}\n\n`);
  send(chunkOf({ role: "assistant", content: "" }));
  if (body.includes("endless")) {
    const timer = setInterval(() => send(chunkOf({ content: "more " })), 5);
    response.once("close", () => clearInterval(timer));
    return;
  }
  if (body.includes("broken")) {
    send(chunkOf({ content: "half" }));
    setTimeout(() => response.destroy(), 50);
    return;
  }
  if (isTool) send(chunkOf({ tool_calls: [{ index: 0, ...toolCall }] }, "tool_calls"));
  else {
    send(chunkOf({ content: "Hello " }));
    send(chunkOf({ content: "世界" }, "stop"));
  }
  response.end("data: [DONE]\n\n");
}

function answerMessages(response: ServerResponse, body: string): void {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m1", stop_sequence: null };
  const usage = { input_tokens: 3, output_tokens: 2 };
  if (!body.includes('"stream":true')) {
    json(response, { ...message, content: [{ type: "text", text: "Hello 世界" }], stop_reason: "end_turn", usage });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (data: { type: string }) => response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
  const started = { ...message, content: [], stop_reason: null, usage };
  send(Object.assign({ type: "message_start" }, { message: started }));
  send(Object.assign({ type: "content_block_start" }, { index: 0, content_block: { type: "text", text: "" } }));
  const delta = (text: string) =>
    send(Object.assign({ type: "content_block_delta" }, { index: 0, delta: { type: "text_delta", text } }));
  delta("Hello ");
  if (body.includes("broken")) {
    setTimeout(() => response.destroy(), 50);
    return;
  }
  delta("世界");
  send(Object.assign({ type: "content_block_stop" }, { index: 0 }));
  const stop = { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 2 } };
  send(Object.assign({ type: "message_delta" }, stop));
  send({ type: "message_stop" });
  response.end();
}

function json(response: ServerResponse, value: object, status = 200): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}
