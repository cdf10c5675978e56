import { expect, test } from "vitest";
import { newSecret, secretsEqual, sha256Hex } from "./secrets.ts";

test("a hash is SHA-256 in hex", () => {
  expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("secrets have their prefix and 43 letters and digits, and never repeat", () => {
  const secrets = Array.from({ length: 500 }, () => newSecret("sk-"));
  for (const secret of secrets) expect(secret).toMatch(/^sk-[0-9A-Za-z]{43}$/);
  expect(new Set(secrets).size).toBe(secrets.length);
});

test("only equal secrets are equal, whatever their lengths", () => {
  expect(secretsEqual("abc", "abc")).toBe(true);
  expect(secretsEqual("abc", "abd")).toBe(false);
  expect(secretsEqual("abc", "")).toBe(false);
});
