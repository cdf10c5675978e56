import { closeSync, openSync, writeSync } from "node:fs";

export interface TinyModel {
  readonly layers: number;
  readonly width: number;
  readonly context: number;
}

const heads = 8;
const alignment = 32;
/** GGUF's own numbers of value types and of tensor types (ggml-org/ggml, docs/gguf.md). */
const valueType = { uint32: 4, int32: 5, float32: 6, string: 8, array: 9 } as const;
const tensorType = { f32: 0, f16: 1 } as const;
const tokenType = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;

const words = (
  "this is a real llama engine with random weights whose words mean nothing so that every test can count its tokens " +
  "and see when one of them was lost doubled or cut off on the way from here to there"
).split(" ");

/**
 * Writes a llama model with random weights: it loads in any llama.cpp and says nothing of sense. Weights are drawn from
 * one seeded block that is repeated, so the file is the same each time and written in well under a second.
 */
export function writeTinyGguf(path: string, { layers, width, context }: TinyModel): void {
  const tokens = vocabulary();
  const feedForward = 4 * width;
  const tensors = [
    tensor("token_embd.weight", [width, tokens.length]),
    tensor("output_norm.weight", [width]),
    tensor("output.weight", [width, tokens.length]),
    ...Array.from({ length: layers }, (_, layer) => [
      tensor(`blk.${layer}.attn_norm.weight`, [width]),
      ...["q", "k", "v", "output"].map((part) => tensor(`blk.${layer}.attn_${part}.weight`, [width, width])),
      tensor(`blk.${layer}.ffn_norm.weight`, [width]),
      tensor(`blk.${layer}.ffn_gate.weight`, [width, feedForward]),
      tensor(`blk.${layer}.ffn_up.weight`, [width, feedForward]),
      tensor(`blk.${layer}.ffn_down.weight`, [feedForward, width]),
    ]).flat(),
  ];
  const metadata = [
    pair("general.architecture", text("llama")),
    pair("general.name", text("tiny random llama")),
    pair("llama.context_length", uint32(context)),
    pair("llama.embedding_length", uint32(width)),
    pair("llama.block_count", uint32(layers)),
    pair("llama.feed_forward_length", uint32(feedForward)),
    pair("llama.attention.head_count", uint32(heads)),
    pair("llama.attention.head_count_kv", uint32(heads)),
    pair("llama.attention.layer_norm_rms_epsilon", float32(1e-5)),
    pair("llama.rope.dimension_count", uint32(width / heads)),
    pair("tokenizer.ggml.model", text("llama")),
    pair(
      "tokenizer.ggml.tokens",
      list(
        valueType.string,
        tokens.map(({ word }) => string(word)),
      ),
    ),
    pair(
      "tokenizer.ggml.scores",
      list(
        valueType.float32,
        tokens.map((_, index) => bytesOf("float", -index)),
      ),
    ),
    pair(
      "tokenizer.ggml.token_type",
      list(
        valueType.int32,
        tokens.map(({ type }) => bytesOf("int", type)),
      ),
    ),
    pair("tokenizer.ggml.unknown_token_id", uint32(0)),
    pair("tokenizer.ggml.bos_token_id", uint32(1)),
    pair("tokenizer.ggml.eos_token_id", uint32(2)),
  ];
  let offset = 0;
  const infos = tensors.map(({ name, shape, type, bytes }) => {
    const dimensions = shape.map((size) => bytesOf("long", size));
    const info = [
      string(name),
      bytesOf("int", shape.length),
      ...dimensions,
      bytesOf("int", type),
      bytesOf("long", offset),
    ];
    offset += padded(bytes);
    return Buffer.concat(info);
  });
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    bytesOf("int", 3),
    bytesOf("long", tensors.length),
    bytesOf("long", metadata.length),
    ...metadata,
    ...infos,
  ]);
  const file = openSync(path, "w");
  try {
    writeSync(file, head);
    writeSync(file, Buffer.alloc(padded(head.length) - head.length));
    for (const { name, type, bytes } of tensors) {
      // Only words are ever answered: bytes that are no UTF-8 would be held back by the server.
      const silent =
        name === "output.weight" ? 2 * width * tokens.findIndex((token) => token.type === tokenType.normal) : 0;
      writeSync(file, Buffer.alloc(silent));
      writeWeights(file, type, bytes - silent);
      writeSync(file, Buffer.alloc(padded(bytes) - bytes));
    }
  } finally {
    closeSync(file);
  }
}

function vocabulary(): { word: string; type: number }[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  return [
    { word: "<unk>", type: tokenType.unknown },
    { word: "<s>", type: tokenType.control },
    { word: "</s>", type: tokenType.control },
    ...bytes.map((word) => ({ word, type: tokenType.byte })),
    ...[...new Set(words)].map((word) => ({ word: `\u2581${word}`, type: tokenType.normal })),
  ];
}

function tensor(name: string, shape: readonly number[]) {
  // Norms are vectors, which llama.cpp wants in full precision.
  const type = shape.length === 1 ? tensorType.f32 : tensorType.f16;
  const count = shape.reduce((product, size) => product * size, 1);
  return { name, shape, type, bytes: count * (type === tensorType.f32 ? 4 : 2) };
}

const block = randomHalves(1 << 19);
const ones = Buffer.from(new Float32Array(1 << 16).fill(1).buffer);

function writeWeights(file: number, type: number, bytes: number): void {
  const source = type === tensorType.f32 ? ones : block;
  for (let left = bytes; left > 0; ) left -= writeSync(file, source, 0, Math.min(left, source.length));
}

/** Halves of either sign between about 0.008 and 0.06, as bits: small enough that no layer runs away. */
function randomHalves(count: number): Buffer {
  const halves = new Uint16Array(count);
  let state = 0x9e3779b9;
  for (let index = 0; index < count; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const exponent = 8 + ((state >>> 28) % 3);
    halves[index] = ((state >>> 16) & 0x8000) | (exponent << 10) | ((state >>> 8) & 0x3ff);
  }
  return Buffer.from(halves.buffer);
}

const padded = (length: number) => Math.ceil(length / alignment) * alignment;

function pair(key: string, value: Buffer): Buffer {
  return Buffer.concat([string(key), value]);
}

function text(value: string): Buffer {
  return Buffer.concat([bytesOf("int", valueType.string), string(value)]);
}

function uint32(value: number): Buffer {
  return Buffer.concat([bytesOf("int", valueType.uint32), bytesOf("int", value)]);
}

function float32(value: number): Buffer {
  return Buffer.concat([bytesOf("int", valueType.float32), bytesOf("float", value)]);
}

function list(type: number, values: readonly Buffer[]): Buffer {
  return Buffer.concat([
    bytesOf("int", valueType.array),
    bytesOf("int", type),
    bytesOf("long", values.length),
    ...values,
  ]);
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([bytesOf("long", bytes.length), bytes]);
}

function bytesOf(kind: "int" | "long" | "float", value: number): Buffer {
  const bytes = Buffer.alloc(kind === "long" ? 8 : 4);
  if (kind === "int") bytes.writeUInt32LE(value);
  else if (kind === "long") bytes.writeBigUInt64LE(BigInt(value));
  else bytes.writeFloatLE(value);
  return bytes;
}
