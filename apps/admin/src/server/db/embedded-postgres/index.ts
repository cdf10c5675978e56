export { removeEmbeddedPostgres } from "./remove.ts";
export { runEmbeddedPostgres } from "./run.ts";
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from "./start.ts";
