import type { Reading, Reason } from "@llmgw/domain";
import { reasonCodes } from "@llmgw/domain";
import { z } from "zod";

/** A short text that people chose: no control characters. */
export const label = z.string().min(1).max(253);

/** An instant on the wire: RFC 3339, UTC. */
export const instant = z.iso.datetime();

export const reading: z.ZodType<Reading> = z.union([z.number(), z.literal("unsupported"), z.literal("unreadable")]);

/** A reason: a code of the catalogue with its parameters. */
export const reasonSchema = z.custom<Reason>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    typeof value.code === "string" &&
    (reasonCodes as readonly string[]).includes(value.code) &&
    "params" in value &&
    typeof value.params === "object",
  { error: "expected a reason { code, params } of the catalogue" },
);

/** The version of the sync protocol that this build speaks. */
export const syncProtocol = 1;
