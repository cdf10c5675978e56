import { Seeded } from "./seeded.ts";

/** One request and its answer, and how the network is to cut them. Made from a seed alone. */
export interface GeneratedTraffic {
  readonly path: string;
  readonly request: Buffer;
  /** The answer's head without its framing headers. */
  readonly answerType: string;
  readonly answer: Buffer;
  readonly isChunkedUpload: boolean;
  readonly framing: "length" | "chunked" | "close";
  /** Where the answer is cut into writes, in order. */
  readonly cuts: readonly number[];
  readonly uploadCuts: readonly number[];
}

const TEXTS = [
  "a",
  "北京",
  "😀",
  "é",
  '\\"',
  "\\u0041",
  "\\/",
  "\\n",
  " ",
  "data: x",
  "finish_reason",
  "_tokens",
  "𝄞",
] as const;
const NUMBERS = ["1", "1.0", "-0.0E+1", "12345678901234567890", "1e400", "0.10", "9007199254740993"] as const;
const BLANKS = ["", "", "", " ", "\n", "\t ", "\r\n"] as const;
const LINE_ENDS = ["\n", "\n", "\r\n", "\r"] as const;

/** The seed's request and answer: JSON or a stream of events, with all that a relay may be tempted to tidy up. */
export function generatedTraffic(seed: number): GeneratedTraffic {
  const random = new Seeded(seed);
  const isStream = random.next() < 0.6;
  const request = Buffer.from(requestText(random, isStream));
  const answer = Buffer.from(isStream ? streamText(random) : `{"x":${value(random, 0)}}${random.pick(BLANKS)}`);
  const isChunkedUpload = random.next() < 0.3;
  return {
    path: random.pick(["/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "/v1/embeddings"]),
    request,
    answerType: isStream ? random.pick(["text/event-stream", "text/event-stream; charset=utf-8"]) : "application/json",
    answer,
    isChunkedUpload,
    framing: random.pick(["length", "chunked", "chunked", "close"]),
    cuts: cutsOf(random, answer.length),
    uploadCuts: isChunkedUpload ? cutsOf(random, request.length) : [],
  };
}

function requestText(random: Seeded, isStream: boolean): string {
  const fields = [
    `"model"${random.pick(BLANKS)}:${random.pick(BLANKS)}"m1"`,
    isStream ? '"stream":true' : random.pick(['"stream":false', '"stream":null', '"n":1.0']),
    `"messages":${value(random, 2)}`,
  ];
  for (let more = random.below(6); more > 0; more -= 1) {
    fields.splice(random.below(fields.length), 0, `"x${more}_${random.pick(TEXTS)}":${value(random, 1)}`);
  }
  const separator = () => `${random.pick(BLANKS)},${random.pick(BLANKS)}`;
  return `{${fields.reduce((text, field) => text + separator() + field)}}${random.pick(BLANKS)}`;
}

function value(random: Seeded, depth: number): string {
  const kind = random.below(depth > 3 ? 3 : 6);
  if (kind === 0) return random.pick(NUMBERS);
  if (kind === 1) return random.pick(["true", "false", "null"]);
  if (kind === 2) return text(random);
  const items = Array.from({ length: random.below(4) }, () => value(random, depth + 1));
  if (kind === 3) return `[${items.join(`,${random.pick(BLANKS)}`)}]`;
  return `{${items.map((item, index) => `"k${index}${random.pick(TEXTS)}":${random.pick(BLANKS)}${item}`).join(",")}}`;
}

/** Now and then a very long one: an image, or an event larger than any buffer. */
function text(random: Seeded): string {
  const length = random.next() < 0.02 ? 50_000 : random.below(12);
  let inner = "";
  for (let index = 0; index < length; index += 1) inner += random.pick(TEXTS);
  return `"${inner}"`;
}

function streamText(random: Seeded): string {
  const end = random.pick(LINE_ENDS);
  const lines: string[] = [];
  for (let count = 1 + random.below(20); count > 0; count -= 1) {
    if (random.next() < 0.2) lines.push(random.pick([":", ": ping - 2", ":x"]) + end + random.pick(["", end]));
    if (random.next() < 0.1) lines.push(`id: ${count}${end}retry: 10${end}`);
    if (random.next() < 0.1) lines.push(`event: content_block_delta${end}`);
    const space = random.pick(["", " "]);
    lines.push(
      `data:${space}{"choices":[{"index":0,"delta":{"content":${text(random)}}}],"x":${value(random, 3)}}${end}`,
    );
    if (random.next() < 0.1) lines.push(`data: ${text(random)}${end}`);
    lines.push(end);
  }
  return `${lines.join("")}data: [DONE]${end}${random.pick([end, ""])}`;
}

/** Mostly a few, now and then a byte at a time for a while. */
function cutsOf(random: Seeded, length: number): number[] {
  if (random.next() < 0.15) {
    const from = random.below(length);
    return Array.from({ length: Math.min(64, length - from) }, (_, index) => from + index);
  }
  return Array.from({ length: random.below(8) }, () => random.below(length)).sort((a, b) => a - b);
}
