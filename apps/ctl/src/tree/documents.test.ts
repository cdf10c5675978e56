import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { knownVariables } from "@llmgw/service";
import { expect, test } from "vitest";
import { treeRoot } from "../up/layout.ts";

/** GitHub's anchor of a heading: lower case, no punctuation, hyphens for spaces. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

/** The prose of a Markdown file: fenced blocks and code spans hold no links. */
function proseOf(file: string): string {
  return readFileSync(join(treeRoot, file), "utf8")
    .replaceAll(/^```[\s\S]*?^```/gm, "")
    .replaceAll(/`[^`\n]*`/g, "code");
}

function anchorsOf(file: string): string[] {
  const text = readFileSync(join(treeRoot, file), "utf8").replaceAll(/^```[\s\S]*?^```/gm, "");
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));
}

function markdownFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
    cwd: treeRoot,
  });
  return listed
    .toString()
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(treeRoot, file)));
}

test("every relative link of a Markdown file leads to a file of this tree, and its anchor to a heading", () => {
  const files = markdownFiles();
  expect(files).toContain("README.md");
  const broken: string[] = [];
  let links = 0;
  for (const file of files) {
    for (const [, target = ""] of proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      links += 1;
      const [path = "", anchor] = target.split("#");
      const to = path === "" ? file : join(dirname(file), path);
      if (!existsSync(join(treeRoot, to))) broken.push(`${file}: ${target}`);
      else if (anchor !== undefined && !anchorsOf(to).includes(anchor)) broken.push(`${file}: ${target} (no heading)`);
    }
  }
  expect(broken).toEqual([]);
  expect(links).toBeGreaterThan(10);
});

test("every LLMGW variable that a document names is one that a program reads", () => {
  const named = markdownFiles().flatMap(
    (file) => readFileSync(join(treeRoot, file), "utf8").match(/LLMGW_[A-Z_]*[A-Z]/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !knownVariables.includes(name))).toEqual([]);
});
