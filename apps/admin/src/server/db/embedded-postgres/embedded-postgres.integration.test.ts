import { chmod, chown, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createLogger, holdDirectory } from "@llmgw/service";
import { describe, expect, onTestFinished, test } from "vitest";
import { type PostgresProgram, startPostgresProgram, urlOf } from "../testing/postgres-program.ts";
import { waitUntil } from "../wait-until.ts";
import { withConnection } from "../with-connection.ts";
import { isAlive } from "./process-table.ts";
import { removeEmbeddedPostgres } from "./remove.ts";
import { startEmbeddedPostgres } from "./start.ts";

const log = createLogger({ name: "test", level: "silent" });
const isRoot = process.getuid?.() === 0;
/** `nobody` on Linux: an account that root's tests can start the program as. */
const ordinary = { uid: 65_534, gid: 65_534 };

async function dataFolder(owner?: { readonly uid: number; readonly gid: number }): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "llmgw-embedded-"));
  await chmod(dataDir, 0o700);
  if (owner !== undefined) {
    await chown(dataDir, owner.uid, owner.gid);
  }
  onTestFinished(async () => {
    await removeEmbeddedPostgres({ dataDir, log, signal: new AbortController().signal });
    await rm(dataDir, { recursive: true, force: true });
  });
  return dataDir;
}

async function stop(program: PostgresProgram, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number | null> {
  program.child.kill(signal);
  return await program.exited;
}

async function postmasterPid(url: string): Promise<number> {
  const { rows } = await withConnection(url, (client) =>
    client.query<{ parent: string }>("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS parent"),
  );
  return Number(rows[0]?.parent);
}

async function superuserUrl(url: string, dataDir: string): Promise<string> {
  const secrets: unknown = JSON.parse(await readFile(path.join(dataDir, "postgres/secrets.json"), "utf8"));
  const at = new URL(url);
  at.username = "postgres";
  at.password =
    secrets !== null && typeof secrets === "object" && "superuserPassword" in secrets
      ? String(secrets.superuserPassword)
      : "";
  at.pathname = "/postgres";
  return at.href;
}

const accounts = [
  { name: "the user who runs the tests", owner: undefined },
  ...(isRoot ? [{ name: "an ordinary user, started by root's tests", owner: ordinary }] : []),
];

describe.each(accounts)("the embedded database as $name", ({ owner }) => {
  const as = owner === undefined ? {} : { as: owner };

  test("keeps its data, port and password over a clean restart", async () => {
    const dataDir = await dataFolder(owner);
    await using first = startPostgresProgram({ dataDir, ...as });
    const url = await urlOf(first);
    await withConnection(url, (client) => client.query("CREATE TABLE kept AS SELECT 42 AS answer"));
    expect(await stop(first)).toBe(0);

    await using second = startPostgresProgram({ dataDir, ...as });
    expect(await urlOf(second)).toBe(url);
    const { rows } = await withConnection(url, (client) => client.query("SELECT answer FROM kept"));
    expect(rows).toEqual([{ answer: 42 }]);
  });

  test("starts again with its data after kill -9 of the program, stopping the server it left behind", async () => {
    const dataDir = await dataFolder(owner);
    await using first = startPostgresProgram({ dataDir, ...as });
    const url = await urlOf(first);
    await withConnection(url, (client) => client.query("CREATE TABLE kept AS SELECT 42 AS answer"));
    const orphan = await postmasterPid(await superuserUrl(url, dataDir));
    await stop(first, "SIGKILL");
    expect(isAlive(orphan)).toBe(true);

    await using second = startPostgresProgram({ dataDir, ...as });
    const { rows } = await withConnection(await urlOf(second), (client) => client.query("SELECT answer FROM kept"));
    expect(rows).toEqual([{ answer: 42 }]);
    expect(await postmasterPid(await superuserUrl(url, dataDir))).not.toBe(orphan);
  });

  test("ends with an error when the server dies, and starts again with what was committed", async () => {
    const dataDir = await dataFolder(owner);
    await using first = startPostgresProgram({ dataDir, ...as });
    const url = await urlOf(first);
    await withConnection(url, (client) => client.query("CREATE TABLE kept AS SELECT 42 AS answer"));
    process.kill(await postmasterPid(await superuserUrl(url, dataDir)), "SIGKILL");
    expect(await first.exited).toBe(1);

    await using second = startPostgresProgram({ dataDir, ...as });
    const { rows } = await withConnection(await urlOf(second), (client) => client.query("SELECT answer FROM kept"));
    expect(rows).toEqual([{ answer: 42 }]);
  });
});

test("a busy port ends the program with one line that names the port and the setting", async () => {
  const dataDir = await dataFolder();
  const other = createServer();
  onTestFinished(() => void other.close());
  const port = await new Promise<number>((resolve) =>
    other.listen(0, "127.0.0.1", () => {
      const address = other.address();
      resolve(address !== null && typeof address === "object" ? address.port : 0);
    }),
  );
  await using program = startPostgresProgram({ dataDir, args: [`--port=${port}`] });
  const outcome = await program.ready;
  const lines = "stderr" in outcome ? outcome.stderr.split("\n").filter((line) => line.startsWith("error:")) : [];
  expect(lines).toEqual([expect.stringContaining(`Port ${port} on 127.0.0.1 is in use by another program`)]);
  expect(lines[0]).toContain("LLMGW_POSTGRES_PORT");
  expect(outcome).toMatchObject({ code: 2 });
});

test("listens on 127.0.0.1 only, asks for the password, and gives llmgw a role that is no superuser", async () => {
  const dataDir = await dataFolder();
  await using program = startPostgresProgram({ dataDir });
  const url = await urlOf(program);
  const settings = await withConnection(await superuserUrl(url, dataDir), (client) =>
    client.query(
      "SELECT current_setting('listen_addresses') AS listen, current_setting('unix_socket_directories') AS sockets, current_setting('fsync') AS fsync",
    ),
  );
  expect(settings.rows).toEqual([{ listen: "127.0.0.1", sockets: "", fsync: "on" }]);
  const role = await withConnection(url, (client) =>
    client.query("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"),
  );
  expect(role.rows).toEqual([{ rolsuper: false }]);
  const wrong = new URL(url);
  wrong.password = "wrong";
  await expect(withConnection(wrong.href, (client) => client.query("SELECT 1"))).rejects.toMatchObject({
    code: "28P01",
  });
  expect((await stat(path.join(dataDir, "postgres/secrets.json"))).mode & 0o777).toBe(0o600);
});

if (isRoot) {
  test("root's database of a deleted temporary folder goes with the next start", async () => {
    const deleted = await mkdtemp(path.join(tmpdir(), "llmgw-embedded-"));
    const start = (dataDir: string) => startEmbeddedPostgres({ dataDir, log, signal: new AbortController().signal });
    await (await start(deleted)).stop();
    const pointer: { clusterDir: string } = JSON.parse(
      await readFile(path.join(deleted, "postgres/location.json"), "utf8"),
    );
    await stat(pointer.clusterDir);
    await rm(deleted, { recursive: true });

    await (await start(await dataFolder())).stop();
    await expect(stat(pointer.clusterDir)).rejects.toMatchObject({ code: "ENOENT" });
  });
}

test("refuses data that a living llmgw looks after", async () => {
  const dataDir = await dataFolder();
  const held = await holdDirectory(path.join(dataDir, "postgres"));
  const start = startEmbeddedPostgres({ dataDir, log, signal: new AbortController().signal, holdTimeoutMs: 1 });
  await expect(start).rejects.toThrow(new RegExp(`in use by process ${process.pid}`, "u"));
  await held.release();
});

test("starts although another program has got the process id of its old lock", async () => {
  const dataDir = await dataFolder();
  await using first = startPostgresProgram({ dataDir });
  const url = await urlOf(first);
  const where = await withConnection(await superuserUrl(url, dataDir), (client) =>
    client.query<{ dir: string; pid: number }>(
      "SELECT current_setting('data_directory') AS dir, split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid",
    ),
  );
  const { dir, pid } = where.rows[0] ?? { dir: "", pid: 0 };
  const lock = path.join(dir, "postmaster.pid");
  const text = await readFile(lock, "utf8");
  await stop(first, "SIGKILL");
  process.kill(pid, "SIGKILL");
  await waitUntil(() => !isAlive(pid), { timeoutMs: 10_000, intervalMs: 20 });
  // The test's own process stands for the other program.
  await writeFile(lock, text.replace(/^\d+/u, String(process.pid)));

  await using second = startPostgresProgram({ dataDir });
  expect(await urlOf(second)).toBe(url);
});
