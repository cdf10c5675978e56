import { randomBytes } from "node:crypto";

/** A new id `<kind>_<uuidv7>`, such as `node_0190…`: ids of one kind sort by the millisecond they were made in. */
export function newId(kind: string, nowMs: number = Date.now()): string {
  return `${kind}_${uuidv7(nowMs, randomBytes(10))}`;
}

/**
 * UUID version 7 of RFC 9562, section 5.7: 48 bits of Unix milliseconds, version 0111, 12 random bits, variant 10,
 * 62 random bits. `random` holds the 10 bytes the random bits are taken from.
 */
export function uuidv7(nowMs: number, random: Uint8Array): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.floor(nowMs), 0, 6);
  bytes.set(random.subarray(0, 10), 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
