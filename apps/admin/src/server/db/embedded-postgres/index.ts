export { removeEmbeddedPostgres } from "./remove.ts";
export { runEmbeddedPostgres } from "./run.ts";
export { startEmbeddedPostgres } from "./start.ts";
