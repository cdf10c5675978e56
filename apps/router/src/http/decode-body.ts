import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

export type Decoding =
  | { readonly kind: "ok"; readonly bytes: Buffer }
  | { readonly kind: "too_large" | "no_memory" | "invalid" };

export interface DecodeOptions {
  readonly coding: string;
  readonly maxBytes: number;
  /** Asked to hold so many bytes more; false when the memory for bodies is used up. */
  readonly reserve: (bytes: number) => boolean;
}

/** True for a content coding that bodies may have. */
export function isKnownCoding(coding: string): boolean {
  return Object.hasOwn(decoders, coding);
}

/** Decodes a body, and stops as soon as it is known to be too large: a small one may grow a thousandfold. */
export async function decodeBody(body: Buffer, { coding, maxBytes, reserve }: DecodeOptions): Promise<Decoding> {
  const decoder = decoders[coding]?.();
  if (decoder === undefined) throw new Error(`no decoder for ${coding}, which should have been refused by its name`);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    decoder.end(body);
    for await (const part of decoder) {
      const bytes = Buffer.from(part);
      size += bytes.length;
      if (size > maxBytes) return { kind: "too_large" };
      if (!reserve(bytes.length)) return { kind: "no_memory" };
      parts.push(bytes);
    }
    return { kind: "ok", bytes: Buffer.concat(parts, size) };
  } catch {
    return { kind: "invalid" }; // zlib says no more than that these are not its bytes
  } finally {
    decoder.destroy();
  }
}
