/** The longest line that is kept: engines print whole configurations and prompts on one. */
const maxLineChars = 2_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: ANSI escape sequences begin with the control character ESC.
const ansi = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what is left of terminal control is what is to be removed.
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;
/** tqdm and its kind: "label:  50%|█████     | 2/4 [00:35<00:35, 17.6s/it]", and the same without the bar. */
const progressBar = /^(.*?)\d{1,3}%\s*(?:\||Completed)/;

/**
 * A log's raw text as lines a person can read: ANSI codes gone, of a line rewritten with carriage returns only the last
 * state, of consecutive states of one progress bar only the last, huge lines cut.
 */
export function cleanLines(text: string): string[] {
  const lines: string[] = [];
  let bar: string | null = null;
  for (const raw of text.split(/\r?\n/)) {
    const line = cleanLine(raw);
    const label = progressBar.exec(line)?.[1]?.trim() ?? null;
    if (label !== null && label === bar) lines[lines.length - 1] = line;
    else lines.push(line);
    bar = label;
  }
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function cleanLine(raw: string): string {
  const states = raw.replace(ansi, "").split("\r");
  const line = (states.findLast((state) => state.trim() !== "") ?? "").replace(control, "").trimEnd();
  return line.length <= maxLineChars ? line : `${line.slice(0, maxLineChars)}… (${line.length - maxLineChars} more)`;
}
