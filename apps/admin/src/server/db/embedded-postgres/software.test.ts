import { access, chmod, mkdir, mkdtemp, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createLogger } from "@llmgw/service";
import { expect, onTestFinished, test } from "vitest";
import { prepareSoftware } from "./software.ts";

const log = createLogger({ name: "test", level: "silent" });

/** A package as npm unpacks it without running its install script, under a strict umask. */
async function unpacked(): Promise<{ nativeDir: string; stageBelow: string }> {
  const dir = await mkdtemp(path.join(tmpdir(), "llmgw-software-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const nativeDir = path.join(dir, "native");
  await mkdir(path.join(nativeDir, "bin"), { recursive: true });
  await mkdir(path.join(nativeDir, "lib"));
  for (const file of ["bin/initdb", "bin/postgres", "lib/libpq.so.5.18"]) {
    await writeFile(path.join(nativeDir, file), "", { mode: 0o600 });
  }
  const links = [{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }];
  await writeFile(path.join(nativeDir, "pg-symlinks.json"), JSON.stringify(links));
  await chmod(path.join(nativeDir, "lib"), 0o700);
  return { nativeDir, stageBelow: path.join(dir, "stage") };
}

test("a package whose install script did not run is copied, with its links made and its files readable", async () => {
  const { nativeDir, stageBelow } = await unpacked();
  const options = { source: { nativeDir, label: "18-test" }, stageBelow, inPlace: true, log };
  const target = await prepareSoftware(options);
  expect(target).toBe(path.join(stageBelow, "postgres-18-test"));
  expect(await readlink(path.join(target, "lib/libpq.so.5"))).toBe("libpq.so.5.18");
  expect((await stat(path.join(target, "bin/postgres"))).mode & 0o777).toBe(0o755);
  expect((await stat(path.join(target, "lib"))).mode & 0o777).toBe(0o755);
  expect((await stat(path.join(target, "lib/libpq.so.5.18"))).mode & 0o777).toBe(0o644);
});

test("a copy is made once, and what a killed copy left is cleared", async () => {
  const { nativeDir, stageBelow } = await unpacked();
  // Above the largest process id Linux gives out.
  const abandoned = path.join(stageBelow, "postgres-18-test.partial-4194305");
  await mkdir(abandoned, { recursive: true });
  const options = { source: { nativeDir, label: "18-test" }, stageBelow, inPlace: false, log };
  const target = await prepareSoftware(options);
  const { ino } = await stat(target);
  expect(await prepareSoftware(options)).toBe(target);
  expect((await stat(target)).ino).toBe(ino);
  await expect(access(abandoned)).rejects.toMatchObject({ code: "ENOENT" });
});

test("a complete package that the same user runs is used where it is", async () => {
  const { nativeDir, stageBelow } = await unpacked();
  const source = {
    nativeDir: await prepareSoftware({ source: { nativeDir, label: "x" }, stageBelow, inPlace: false, log }),
    label: "y",
  };
  expect(await prepareSoftware({ source, stageBelow, inPlace: true, log })).toBe(source.nativeDir);
});
