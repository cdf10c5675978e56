import type { LoadProgress } from "../adapter.ts";

export type LoadStage = readonly [pattern: RegExp, progress: (match: RegExpExecArray) => LoadProgress];

/** What a log line says about a start: by the first stage whose pattern it matches, or null. */
export function stageProgress(line: string, stages: readonly LoadStage[]): LoadProgress | null {
  for (const [pattern, progress] of stages) {
    const match = pattern.exec(line);
    if (match !== null) return progress(match);
  }
  return null;
}
