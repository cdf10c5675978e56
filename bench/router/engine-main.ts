/**
 * The engine of the bench: raw TCP and ready-made bytes, so that it costs next to nothing. It answers with 350 bytes of JSON,
 * with 200 events at once, or with an event every 100 ms or 10 s, each of which tells when it was sent.
 */
import { createServer, type Socket } from "node:net";
import { BURST_EVENTS, PACED_INTERVAL_MS, QUIET_INTERVAL_MS } from "./bodies.ts";

const completion = JSON.stringify({
  id: "chatcmpl-0123456789abcdef0123456789abcdef",
  object: "chat.completion",
  created: 1_764_500_000,
  model: "m1",
  choices: [
    { index: 0, message: { role: "assistant", content: "Hello! How can I help you today?" }, finish_reason: "stop" },
  ],
  usage: { prompt_tokens: 9, total_tokens: 18, completion_tokens: 9, prompt_tokens_details: null },
  system_fingerprint: null,
});
const jsonAnswer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${completion.length}\r\n\r\n${completion}`;
const streamHead =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";

function chunk(data: string): string {
  return `${data.length.toString(16)}\r\n${data}\r\n`;
}

function event(content: string, finish: string | null = null): string {
  const body = {
    id: "chatcmpl-0123456789abcdef0123456789abcdef",
    object: "chat.completion.chunk",
    created: 1_764_500_000,
    model: "m1",
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: finish }],
  };
  return `data: ${JSON.stringify(body)}\n\n`;
}

const burst = Array.from({ length: BURST_EVENTS }, (_, index) => chunk(event(` token${index}`)));
const burstEnd = `${chunk(event("", "stop"))}${chunk("data: [DONE]\n\n")}0\r\n\r\n`;

/** Each event is a segment of its own, as engines send them. */
function writeBurst(socket: Socket): void {
  socket.write(streamHead);
  for (const piece of burst) socket.write(piece);
  socket.write(burstEnd);
}

function writePaced(socket: Socket, intervalMs: number, firstMs: number): void {
  socket.write(streamHead);
  const first = setTimeout(() => {
    const send = () =>
      socket.write(
        chunk(`data: {"t":"${process.hrtime.bigint()}","choices":[{"index":0,"delta":{"content":" x"}}]}\n\n`),
      );
    send();
    const timer = setInterval(send, intervalMs);
    socket.once("close", () => clearInterval(timer));
  }, firstMs);
  socket.once("close", () => clearTimeout(first));
}

const server = createServer({ noDelay: true }, (socket) => {
  let missing = 0; // bytes of a body whose head has been read
  let kind = "json";
  let head = "";
  const answer = () => {
    if (kind === "burst") writeBurst(socket);
    else if (kind === "paced") writePaced(socket, PACED_INTERVAL_MS, Math.random() * PACED_INTERVAL_MS);
    else if (kind === "quiet") writePaced(socket, QUIET_INTERVAL_MS, 0);
    else socket.write(jsonAnswer);
  };
  socket.on("data", (data: Buffer) => {
    if (missing > 0) {
      missing -= data.length;
      if (missing === 0) answer();
      return;
    }
    head += data.toString("latin1");
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    if (head.startsWith("GET ")) {
      const list = '{"object":"list","data":[{"id":"m1","object":"model"}]}';
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${list.length}\r\n\r\n${list}`,
      );
      head = "";
      return;
    }
    const length = Number(/content-length: *(\d+)/i.exec(head.slice(0, end))?.[1] ?? 0);
    const bodyStart = head.slice(end + 4, end + 64);
    if (bodyStart.length < 20 && length > bodyStart.length) return; // not yet enough to know what is asked for
    kind = /"bench":"(\w+)"/.exec(bodyStart)?.[1] ?? "json";
    missing = length - (head.length - end - 4);
    head = "";
    if (missing === 0) answer();
  });
  socket.on("error", () => socket.destroy());
});

server.listen({ host: "127.0.0.1", port: 0, backlog: 8_192 }, () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === "object" ? address?.port : null }));
});
