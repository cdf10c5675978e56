const SECRET_FLAG = /^--[\w-]*(?:token|secret|password|key|credential)[\w-]*/i;

/** A command line with the values of flags that look like credentials replaced, written either way. */
export function redactArguments(argv: readonly string[]): string[] {
  return argv.map((word, index) => {
    const flag = SECRET_FLAG.exec(word)?.[0];
    if (flag !== undefined && word.startsWith("=", flag.length)) return `${flag}=[redacted]`;
    const previous = argv[index - 1];
    const isValue = previous !== undefined && SECRET_FLAG.exec(previous)?.[0] === previous && !word.startsWith("--");
    return isValue ? "[redacted]" : word;
  });
}
