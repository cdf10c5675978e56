/** One event of a streamed chat answer, as far as tests look at it. */
export interface ChatEvent {
  readonly choices: readonly { readonly delta: { readonly content?: string }; readonly finish_reason: string | null }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** An open stream: pull events one by one, or leave. */
export interface ChatStream {
  /** The next event, "done" for `[DONE]`, undefined at the end of the connection. Throws when it breaks. */
  next(): Promise<ChatEvent | "done" | undefined>;
  leave(): void;
}

/** Sends a streaming chat request; `extra` is added to its body. */
export async function openChatStream(url: string, extra: Readonly<Record<string, unknown>>): Promise<ChatStream> {
  const controller = new AbortController();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "tell me something" }], stream: true, ...extra }),
    signal: controller.signal,
  });
  if (response.status !== 200 || response.body === null) {
    throw new Error(`expected a stream, got ${response.status}: ${await response.text()}`);
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let buffered = "";
  return {
    async next() {
      for (;;) {
        const end = buffered.indexOf("\n\n");
        if (end >= 0) {
          const data = buffered.slice("data: ".length, end);
          buffered = buffered.slice(end + 2);
          return data === "[DONE]" ? "done" : (JSON.parse(data) as ChatEvent);
        }
        const { value, done } = await reader.read();
        if (done) {
          return undefined;
        }
        buffered += decoder.decode(value, { stream: true });
      }
    },
    leave: () => controller.abort(),
  };
}

/** All events up to `[DONE]`. */
export async function readAll(stream: ChatStream): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  for (let event = await stream.next(); event !== "done"; event = await stream.next()) {
    if (event === undefined) {
      throw new Error(`the stream ended after ${events.length} events without [DONE]`);
    }
    events.push(event);
  }
  return events;
}
