/** An instant for the wire. */
export function instantOf(ms: number): string {
  return new Date(ms).toISOString();
}

export function instantOrNull(ms: number | null): string | null {
  return ms === null ? null : instantOf(ms);
}
