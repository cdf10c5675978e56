"use client";

import { useId } from "react";
import { parseDuration } from "../data/format.ts";

const presets = [
  ["10 m", "10m"],
  ["30 m", "30m"],
  ["1 h", "1h"],
] as const;

/** A grace period as text (`1h30m`): `ms` is null while the text is not a duration. */
export interface Grace {
  readonly text: string;
  readonly ms: number | null;
}

const longestMs = 30 * 86_400_000;

export function graceOf(text: string): Grace {
  const ms = parseDuration(text);
  return { text, ms: ms !== null && ms <= longestMs ? ms : null };
}

interface GraceFieldProps {
  readonly label: string;
  readonly grace: Grace;
  readonly onChange: (grace: Grace) => void;
  readonly hint?: string;
}

/** Three usual lengths, or any other one typed. */
export function GraceField({ label, grace, onChange, hint }: GraceFieldProps) {
  const id = useId();
  return (
    <div className="formrow">
      <label htmlFor={id}>{label}</label>
      <span className="flex flex-wrap items-center gap-2">
        <fieldset className="seg" aria-label={`${label}, usual lengths`}>
          {presets.map(([word, text]) => (
            <button key={text} type="button" aria-pressed={grace.text === text} onClick={() => onChange(graceOf(text))}>
              {word}
            </button>
          ))}
        </fieldset>
        <span className="field w-[104px]!">
          <input
            id={id}
            value={grace.text}
            spellCheck={false}
            autoComplete="off"
            aria-invalid={grace.ms === null}
            aria-describedby={`${id}-note`}
            onChange={(event) => onChange(graceOf(event.target.value))}
          />
        </span>
      </span>
      <span id={`${id}-note`} className={grace.ms === null ? "bad" : "hint"}>
        {grace.ms === null ? "Write it like 45m or 1h30m, at most 30d" : hint}
      </span>
    </div>
  );
}
