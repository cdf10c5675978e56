import { isIPv6 } from "node:net";
import { z } from "zod";
import { parseDuration } from "./duration.ts";

/** A TCP address to listen on. Port 0 asks the system for a free one; an IPv6 `host` carries no brackets here. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Inclusive at both ends. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** "host:port" → `{ host, port }`; IPv6 in brackets ("[::1]:8080"); port 0 = any free port. */
export const listenAddress = textSchema(
  "host:port, such as 127.0.0.1:8080 (IPv6 in brackets: [::1]:8080)",
  parseListen,
);

/** Whole milliseconds as a number or text, or text such as "500ms", "30s", "15m", "1h30m", "7d" → milliseconds. */
export const duration = z
  .union([z.number(), z.string()], { error: "expected a duration" })
  .transform((value, context) => {
    const ms = typeof value === "string" ? parseDuration(value) : value;
    if (ms !== undefined && Number.isSafeInteger(ms) && ms >= 0) return ms;
    context.addIssue({
      code: "custom",
      message: "expected a duration: whole milliseconds, or such as 500ms, 30s, 1h30m",
    });
    return z.NEVER;
  });

/** "18000-18999" → `{ first, last }`, ports 1..65535, both ends included. */
export const portRange = textSchema("a range of ports, such as 18000-18999", parsePortRange);

/** "gpu=h100,rack=a" → `{ gpu: "h100", rack: "a" }`; an empty text is no labels. */
export const labels = textSchema(
  "labels as name=value, separated by commas, each name once (letters, digits, and . _ / -)",
  parseLabels,
);

/** An absolute http or https URL without credentials, query or fragment; answered without a trailing slash. */
export const httpUrl = textSchema(
  "a URL such as http://127.0.0.1:7070 (http or https, no user, query or #)",
  parseHttpUrl,
);

/** A schema for a setting that is written as text. `parse` answers undefined when the text is not what is `expected`. */
export function textSchema<T>(expected: string, parse: (text: string) => T | undefined) {
  return z.string({ error: `expected ${expected}` }).transform((text, context): T => {
    const value = parse(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: `expected ${expected}` });
    return z.NEVER;
  });
}

function parseListen(text: string): ListenAddress | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain, digits] = match;
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535) return undefined;
  if (bracketed !== undefined && !isIPv6(bracketed)) return undefined;
  return { host, port };
}

function parsePortRange(text: string): PortRange | undefined {
  const match = /^(\d{1,5})\s*[-–]\s*(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const first = Number(match[1]);
  const last = Number(match[2]);
  return first >= 1 && first <= last && last <= 65_535 ? { first, last } : undefined;
}

function parseLabels(text: string): Readonly<Record<string, string>> | undefined {
  const entries = new Map<string, string>();
  if (text === "") return {};
  for (const part of text.split(",")) {
    const match = /^\s*([A-Za-z0-9][\w./-]*)\s*=\s*([\w./:+-]*)\s*$/.exec(part);
    const [, name, value] = match ?? [];
    if (name === undefined || value === undefined || entries.has(name)) return undefined;
    entries.set(name, value);
  }
  return Object.fromEntries(entries);
}

function parseHttpUrl(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || text.includes("?") || text.includes("#")) return undefined;
  return url.href.replace(/\/+$/, "");
}
