import type { ServerResponse } from "node:http";

/** How a stream's bytes leave: whole events, or as a bad network or proxy cuts them. */
export type Cutting = "whole" | "half-events" | "utf8-splits";

/** Writes a stream's events in order, each cut in two pieces where a fault says so. */
export interface EventSender {
  send(text: string): void;
  end(text: string): void;
}

/** @param cutting asked for each event, as faults change at run time */
export function createEventSender(response: ServerResponse, cutting: () => Cutting): EventSender {
  const waiting: { bytes: Buffer | string; last: boolean }[] = [];
  let draining = false;

  const drain = () => {
    const next = waiting.shift();
    if (next === undefined) {
      draining = false;
      return;
    }
    if (next.last) {
      response.end(next.bytes);
      return;
    }
    response.write(next.bytes);
    // The pieces of an event leave in turns of their own, so that they arrive as several.
    setImmediate(drain);
  };
  const push = (text: string, last: boolean) => {
    const how = cutting();
    if (how === "whole" && !draining) {
      if (last) {
        response.end(text);
      } else {
        response.write(text);
      }
      return;
    }
    const bytes = Buffer.from(text);
    const at = how === "utf8-splits" ? insideCharacter(bytes) : Math.floor(bytes.length / 2);
    const pieces = how === "whole" || bytes.length < 2 ? [bytes] : [bytes.subarray(0, at), bytes.subarray(at)];
    pieces.forEach((piece, index) => void waiting.push({ bytes: piece, last: last && index === pieces.length - 1 }));
    if (!draining) {
      draining = true;
      drain();
    }
  };
  return { send: (text) => push(text, false), end: (text) => push(text, true) };
}

/** A place in the middle of a character of several bytes; the middle when there is none. */
function insideCharacter(bytes: Buffer): number {
  const at = bytes.findIndex((byte) => byte >= 0x80 && byte < 0xc0);
  return at > 0 ? at : Math.floor(bytes.length / 2);
}
