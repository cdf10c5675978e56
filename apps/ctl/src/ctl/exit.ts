/** Exit codes of ctl, as its `--help` documents them. */
export const exit = {
  ok: 0,
  refused: 1,
  usage: 2,
  notFound: 3,
  auth: 4,
  unreachable: 5,
  waitTimeout: 6,
  finishedWithLosses: 7,
  cannot: 8,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

/** Ends a command with words for a person and an exit code. */
export class CtlError extends Error {
  override readonly name = "CtlError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export const exitCodesHelp = `
Exit codes: 0 done · 1 refused by the server or failed · 2 wrong usage · 3 not found · 4 credential missing or not
enough · 5 admin unreachable · 6 the wait ended first (the operation goes on) · 7 finished with losses · 8 it cannot be
placed · 130 interrupted`;
