/** What a key asks the whole page for. */
export type Wish =
  | { readonly kind: "palette" | "help" | "filter" | "jump" }
  | { readonly kind: "go"; readonly href: string };

/** The second key of `g n`, `g m` …: pages by their first letter. */
export const jumps: Readonly<Record<string, string>> = {
  o: "/",
  n: "/nodes",
  m: "/models",
  r: "/replicas",
  p: "/placement",
  d: "/drains",
  a: "/audit",
};

interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

interface Place {
  /** The key went into a text field. */
  readonly typing: boolean;
  /** A dialog is open: its keys are its own. */
  readonly inDialog: boolean;
  /** The key before was `g`, a moment ago. */
  readonly jumping: boolean;
}

/** What a key wishes for where it was pressed; null when it is none of ours. */
export function wishOf(pressed: Pressed, { typing, inDialog, jumping }: Place): Wish | null {
  const { key, altKey } = pressed;
  const command = pressed.ctrlKey || pressed.metaKey;
  if (inDialog || altKey) return null;
  if (command) return key.toLowerCase() === "k" ? { kind: "palette" } : null;
  if (typing) return null;
  const href = jumps[key];
  if (jumping && href !== undefined) return { kind: "go", href };
  if (key === "/") return { kind: "filter" };
  if (key === "?") return { kind: "help" };
  return key === "g" ? { kind: "jump" } : null;
}
