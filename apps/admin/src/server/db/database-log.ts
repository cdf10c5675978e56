import type { Logger } from "@llmgw/service";

/** What the database plumbing needs of a logger. */
export type DatabaseLog = Pick<Logger, "debug" | "info" | "warn">;
