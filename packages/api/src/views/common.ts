import { reading, reasonSchema } from "@llmgw/wire";
import { z } from "zod";

export const instant = z.iso.datetime();
export const reasonOrNull = reasonSchema.nullable();
export { reading, reasonSchema };

/** The role that a person or a token has. Each includes the ones before it. */
export const roles = ["viewer", "operator", "admin"] as const;
export type Role = (typeof roles)[number];
