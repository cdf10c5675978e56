/**
 * What the person who started the program must change: settings, a busy port, a held folder. Each problem is one
 * sentence that names the setting, what was found and what was expected. `runMain` prints it without a stack.
 */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("\n"), options);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Thrown by `parseSettings` on `--help`; `runMain` prints the text and ends with exit code 0. */
export class HelpRequested extends Error {
  readonly text: string;

  constructor(text: string) {
    super("help was requested");
    this.name = "HelpRequested";
    this.text = text;
  }
}
