import { defineConfig } from "vitest/config";

/**
 * Projects: `unit` (pure and fast, no service), `integration` (one real Postgres, a database per file), `e2e` (real
 * processes and a real browser, one file at a time), and `real-engine` (with a llama-server of this machine; not part of
 * `npm test`).
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["{apps,packages}/**/*.test.{ts,tsx}"],
          exclude: ["**/*.integration.test.ts", "**/node_modules/**", "**/.next/**"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "integration",
          include: ["apps/**/*.integration.test.ts"],
          exclude: ["**/node_modules/**"],
          globalSetup: ["apps/admin/src/server/db/testing/postgres-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "real-engine",
          include: ["e2e/real-engine/**/*.real.ts"],
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["e2e/**/*.test.ts"],
          exclude: ["**/node_modules/**"],
          fileParallelism: false,
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
