/**
 * How a use-case ends when it does not succeed. The words go to people: what was found, what was expected, what to do.
 */
export type Refusal =
  | { readonly kind: "not_found"; readonly message: string }
  | { readonly kind: "invalid"; readonly message: string }
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "forbidden"; readonly message: string }
  /** The preview that the caller acted on is not true any more; `fresh` is the new one. */
  | { readonly kind: "stale_plan"; readonly message: string; readonly fresh: unknown }
  | { readonly kind: "unavailable"; readonly message: string };

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export function done<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

export function refused(refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal };
}
