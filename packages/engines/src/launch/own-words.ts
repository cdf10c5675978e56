/**
 * Drops flags that make a process the shard it is (its address, its rank, its key), with their values, from an
 * operator's arguments: another value would break routing. Everything else an operator writes wins over ours, as the
 * engines take the last of two values.
 */
export function withoutFlags(args: readonly string[], flags: readonly string[]): string[] {
  const kept: string[] = [];
  let dropping = false;
  for (const word of args) {
    if (isFlag(word)) dropping = flags.some((flag) => word === flag || word.startsWith(`${flag}=`));
    if (!dropping) kept.push(word);
  }
  return kept;
}

/** The value that an operator's arguments give a flag, the last one; undefined when they do not name it. */
export function flagValue(args: readonly string[], flags: readonly string[]): string | undefined {
  let value: string | undefined;
  for (const [place, word] of args.entries()) {
    for (const flag of flags) {
      if (word === flag) value = args[place + 1];
      else if (word.startsWith(`${flag}=`)) value = word.slice(flag.length + 1);
    }
  }
  return value;
}

/** A negative number is a value, not a flag. */
function isFlag(word: string): boolean {
  return word.startsWith("-") && !/^-\d/.test(word);
}
