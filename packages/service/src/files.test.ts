import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { readJsonFile, writeFileAtomic } from "./files.ts";
import { temporaryDirectory } from "./testing/temporary-directory.ts";

test("a file is replaced whole, with its mode and no leftovers", async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, "run.json");
  await writeFileAtomic(path, "old", { mode: 0o644 });
  await writeFileAtomic(path, "new");
  expect(await readFile(path, "utf8")).toBe("new");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder.path)).toEqual(["run.json"]);
});

test("writers at the same time leave the content of one of them", async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, "table.json");
  const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(50_000));
  await Promise.all(contents.map((content) => writeFileAtomic(path, content)));
  expect(contents).toContain(await readFile(path, "utf8"));
  expect(await readdir(folder.path)).toEqual(["table.json"]);
});

test("a failed write names the file, keeps what was there, and leaves nothing behind", async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, "taken");
  await mkdir(path);
  await expect(writeFileAtomic(path, "data")).rejects.toThrow(`cannot write ${path}`);
  expect(await readdir(folder.path)).toEqual(["taken"]);
});

test("a JSON file is ok, absent or invalid, and an invalid one says what is wrong", async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, "state.json");
  const schema = z.object({ version: z.number() });
  expect(await readJsonFile(path, schema)).toEqual({ kind: "absent" });
  await writeFileAtomic(path, '{"version": 3}');
  expect(await readJsonFile(path, schema)).toEqual({ kind: "ok", value: { version: 3 } });
  await writeFileAtomic(path, '{"version": "3"}');
  expect(await readJsonFile(path, schema)).toEqual({ kind: "invalid", problem: expect.stringContaining("version") });
  await writeFileAtomic(path, '{"ver');
  expect(await readJsonFile(path, schema)).toEqual({
    kind: "invalid",
    problem: expect.stringContaining("is not JSON"),
  });
});
