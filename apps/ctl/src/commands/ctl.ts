/** Placeholder signature replaced by the command tree. */
export async function ctl(_argv: readonly string[], _env: NodeJS.ProcessEnv): Promise<number> {
  return 0;
}
