import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { holdDirectory } from "./hold-directory.ts";
import { spawnScript } from "./testing/spawn-script.ts";
import { temporaryDirectory } from "./testing/temporary-directory.ts";

const holderScript = (directory: string) => `
  import { holdDirectory } from "@llmgw/service";
  await holdDirectory(${JSON.stringify(directory)});
  console.log("held");
  setInterval(() => {}, 1000);
`;

test("a live holder keeps others out, who learn its pid; after kill -9 its lock is taken over", async () => {
  await using folder = await temporaryDirectory();
  using holder = spawnScript(holderScript(folder.path));
  await holder.waitFor("held");
  await expect(holdDirectory(folder.path)).rejects.toThrow(`${folder.path} is in use by process ${holder.child.pid}`);
  holder.child.kill("SIGKILL");
  await holder.ended;
  const held = await holdDirectory(folder.path);
  await held.release();
  expect(await readdir(folder.path)).toEqual(["lock.2"]);
});

test("a lock whose pid now belongs to a younger process, or that is half written, is stale", async () => {
  await using folder = await temporaryDirectory();
  for (const lock of [JSON.stringify({ pid: process.pid, startedAt: "another-boot/1" }), '{"pid":', ""]) {
    await writeFile(join(folder.path, "lock.1"), lock);
    const held = await holdDirectory(folder.path);
    await held.release();
  }
});

test("a folder that was released can be held again", async () => {
  await using folder = await temporaryDirectory();
  const first = await holdDirectory(folder.path);
  await expect(holdDirectory(folder.path)).rejects.toThrow(`in use by process ${process.pid}`);
  await first.release();
  await (await holdDirectory(folder.path)).release();
});

test("of many that find a stale lock at once, exactly one gets the folder", async () => {
  for (let round = 0; round < 20; round += 1) {
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, "lock.7"), JSON.stringify({ pid: process.pid, startedAt: "another-boot/1" }));
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => holdDirectory(folder.path)));
    const refusals = tries.flatMap((result) => (result.status === "rejected" ? [String(result.reason)] : []));
    expect(refusals).toHaveLength(7);
    for (const refusal of refusals) expect(refusal).toContain(`in use by process ${process.pid}`);
    expect(await readdir(folder.path)).toEqual(["lock.8"]);
  }
});

test("a folder that is a file, or below one, is refused in words", async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, "file");
  await writeFile(file, "");
  for (const path of [file, join(file, "below")]) {
    await expect(holdDirectory(path)).rejects.toThrow(`the data folder ${path} is a file or lies below one`);
  }
});
