import { expect, inject, test } from "vitest";
import { withConnection } from "../with-connection.ts";
import { testDatabase } from "./test-database.ts";

test("each test has a migrated database of its own, which ends with its scope", async () => {
  let name: string;
  {
    await using one = await testDatabase();
    await using other = await testDatabase();
    name = new URL(one.url).pathname.slice(1);
    await one.prisma.$executeRawUnsafe("CREATE TABLE mine (id int)");
    expect(await other.prisma.$queryRaw`SELECT to_regclass('mine')::text AS found`).toEqual([{ found: null }]);
    expect(await other.prisma.node.count()).toBe(0);
  }
  const { rows } = await withConnection(inject("postgres").url, (client) =>
    client.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]),
  );
  expect(rows).toEqual([]);
});
