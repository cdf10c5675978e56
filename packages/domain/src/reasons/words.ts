import type { ReasonCode, ReasonParams } from "./reason.ts";

/** One language: a sentence without a full stop for every reason. Instants stay with whoever shows them. */
export type ReasonWords = { readonly [C in ReasonCode]: (params: Readonly<ReasonParams[C]>) => string };

/** MiB as people read them, with the unit: `23.9 GiB`. Rounded down, so that a shortage never reads as a fit. */
export function gib(mib: number): string {
  return `${(Math.floor((mib / 1024) * 10) / 10).toFixed(1)} GiB`;
}

/** MiB rounded up, for what is needed or missing. */
export function gibUp(mib: number): string {
  return `${(Math.ceil((mib / 1024) * 10) / 10).toFixed(1)} GiB`;
}
