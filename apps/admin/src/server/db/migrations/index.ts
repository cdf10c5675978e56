export { applyMigrations } from "./apply-migrations.ts";
export { createMigration } from "./create-migration.ts";
export { diffSchema } from "./diff-schema.ts";
