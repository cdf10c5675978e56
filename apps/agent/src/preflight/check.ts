/** One thing that a node needs, as it was found. `warn`: work is possible without it, in the words of `found`. */
export interface Check {
  readonly name: string;
  readonly verdict: "ok" | "warn" | "fail";
  readonly found: string;
  /** What to do about it; null when nothing has to be done. */
  readonly todo: string | null;
}

export function passed(name: string, found: string): Check {
  return { name, verdict: "ok", found, todo: null };
}

export function failed(name: string, found: string, todo: string): Check {
  return { name, verdict: "fail", found, todo };
}

export function warned(name: string, found: string, todo: string): Check {
  return { name, verdict: "warn", found, todo };
}

/** The report of a pre-flight, a line for each check and one for what to do about it. */
export function preflightText(checks: readonly Check[]): string {
  const words = { ok: "ok  ", warn: "warn", fail: "FAIL" } as const;
  const width = Math.max(0, ...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, verdict, found, todo }) => [
    `${words[verdict]}  ${name.padEnd(width)}  ${found}`,
    ...(todo === null ? [] : [`      ${" ".repeat(width)}  → ${todo}`]),
  ]);
  const failures = checks.filter(({ verdict }) => verdict === "fail").length;
  const warnings = checks.filter(({ verdict }) => verdict === "warn").length;
  const sum =
    failures > 0
      ? `${failures} of ${checks.length} checks failed: this node cannot do its work yet.`
      : `This node is ready${warnings > 0 ? `, with ${warnings} warning${warnings === 1 ? "" : "s"}` : ""}.`;
  return `${[...lines, "", sum].join("\n")}\n`;
}
