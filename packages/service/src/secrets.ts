import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 > 2^256: every 256-bit number fits. */
const BASE62_LENGTH = 43;

/** SHA-256 of a text's UTF-8 bytes (or of bytes), as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** A new credential: the prefix and 256 random bits in 43 letters and digits, so that a double click selects it whole. */
export function newSecret(prefix: string): string {
  let left = BigInt(`0x${randomBytes(32).toString("hex")}`);
  let text = "";
  for (let index = 0; index < BASE62_LENGTH; index += 1) {
    text = BASE62.charAt(Number(left % 62n)) + text;
    left /= 62n;
  }
  return prefix + text;
}

/** Compares two credentials in a time that tells nothing about either, their lengths included. */
export function secretsEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
