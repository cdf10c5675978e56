import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildInfo } from "./build-info.ts";
import { temporaryDirectory } from "./testing/temporary-directory.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

test("the version is the workspace root's, the commit that of its HEAD, loose, packed or detached", async () => {
  await using folder = await temporaryDirectory();
  const inner = join(folder.path, "packages", "a");
  await mkdir(inner, { recursive: true });
  await mkdir(join(folder.path, ".git", "refs", "heads"), { recursive: true });
  await writeFile(join(folder.path, "package.json"), '{"version": "9.8.7", "workspaces": []}');
  await writeFile(join(inner, "package.json"), '{"version": "1.0.0"}');
  const git = (path: string, content: string) => writeFile(join(folder.path, ".git", path), content);
  await git("HEAD", "ref: refs/heads/main\n");
  expect(buildInfo(inner)).toEqual({ version: "9.8.7", commit: "unknown" });
  await git("packed-refs", `# pack-refs with: peeled\n${COMMIT} refs/heads/main\n`);
  expect(buildInfo(inner).commit).toBe(COMMIT);
  await git("refs/heads/main", `${COMMIT.toUpperCase()}\n`);
  expect(buildInfo(inner).commit).toBe(COMMIT.toUpperCase());
  await git("HEAD", `${COMMIT}\n`);
  expect(buildInfo(inner).commit).toBe(COMMIT);
});

test("where there is nothing to read, or only rubbish, the build is unknown and nothing fails", async () => {
  await using folder = await temporaryDirectory();
  expect(buildInfo(folder.path)).toEqual({ version: "unknown", commit: "unknown" });
  await writeFile(join(folder.path, "package.json"), "rubbish");
  expect(buildInfo(folder.path)).toEqual({ version: "unknown", commit: "unknown" });
});
