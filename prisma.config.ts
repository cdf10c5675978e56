/** For Prisma's own command line. llmgw generates its client by scripts/generate.mjs and migrates by itself. */
export default {
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  // Absent while the client is generated, which needs no database.
  // biome-ignore lint/suspicious/noUndeclaredEnvVars: no turbo task reads it
  datasource: { url: process.env["DATABASE_URL"] ?? "" },
};
