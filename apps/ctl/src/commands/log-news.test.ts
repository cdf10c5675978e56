import { expect, test } from "vitest";
import { logNews } from "./log-news.ts";

test("only lines that were not there before are news, whatever the tail has left behind", () => {
  expect(logNews([], ["a", "b"])).toEqual({ lines: ["a", "b"], missed: false });
  expect(logNews(["a", "b"], ["a", "b"])).toEqual({ lines: [], missed: false });
  expect(logNews(["a", "b"], ["a", "b", "c"])).toEqual({ lines: ["c"], missed: false });
  expect(logNews(["a", "b", "c"], ["b", "c", "d"])).toEqual({ lines: ["d"], missed: false });
  expect(logNews(["x", "x"], ["x", "x", "x"])).toEqual({ lines: ["x"], missed: false });
});

test("a tail with nothing of the earlier one says that lines are missing", () => {
  expect(logNews(["a", "b"], ["y", "z"])).toEqual({ lines: ["y", "z"], missed: true });
});
