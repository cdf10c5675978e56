import type { Reason, ReasonCode } from "./reason.ts";
import type { ReasonWords } from "./words.ts";
import { english } from "./words-en.ts";
import { chinese } from "./words-zh.ts";

export const reasonLocales = ["en", "zh-CN"] as const;
export type ReasonLocale = (typeof reasonLocales)[number];

const languages: Readonly<Record<ReasonLocale, ReasonWords>> = { en: english, "zh-CN": chinese };

/** Every code of the catalogue. */
export const reasonCodes = Object.keys(english) as ReasonCode[];

/** The reason as a sentence without a full stop, in the language asked for. */
export function describeReason(reason: Reason, locale: ReasonLocale = "en"): string {
  const words = languages[locale][reason.code] as (params: Reason["params"]) => string;
  return words(reason.params);
}
