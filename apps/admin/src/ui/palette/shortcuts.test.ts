import { expect, test } from "vitest";
import { wishOf } from "./shortcuts.ts";

const press = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });
const page = { typing: false, inDialog: false, jumping: false };

test("no key of ours fires while somebody types, save the palette's with Ctrl or Cmd", () => {
  for (const key of ["/", "?", "g", "n"])
    expect(wishOf(press(key), { ...page, typing: true, jumping: true })).toBeNull();
  expect(wishOf(press("k", { ctrlKey: true }), { ...page, typing: true })).toEqual({ kind: "palette" });
  expect(wishOf(press("K", { metaKey: true }), page)).toEqual({ kind: "palette" });
});

test("an open dialog keeps its keys, and the browser's own commands stay its own", () => {
  expect(wishOf(press("k", { ctrlKey: true }), { ...page, inDialog: true })).toBeNull();
  expect(wishOf(press("f", { ctrlKey: true }), page)).toBeNull();
  expect(wishOf(press("/", { altKey: true }), page)).toBeNull();
});

test("g and then a letter goes to a page; the letter alone does nothing", () => {
  expect(wishOf(press("g"), page)).toEqual({ kind: "jump" });
  expect(wishOf(press("n"), { ...page, jumping: true })).toEqual({ kind: "go", href: "/nodes" });
  expect(wishOf(press("n"), page)).toBeNull();
});
