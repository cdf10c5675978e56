export { applyMigrations } from "./apply-migrations.ts";
export { createMigration } from "./create-migration.ts";
