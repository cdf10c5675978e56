import { type ReactNode, useId } from "react";

interface TextFieldProps {
  readonly label: ReactNode;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  readonly bad?: string | null;
  readonly placeholder?: string;
}

/** A labelled line of text, with what is wrong with it below. */
export function TextField({ label, value, onChange, hint, bad = null, placeholder }: TextFieldProps) {
  const id = useId();
  const note = bad ?? hint;
  return (
    <div className="formrow">
      <label htmlFor={id}>{label}</label>
      <span className="field">
        <input
          id={id}
          value={value}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={bad !== null}
          aria-describedby={note === undefined ? undefined : `${id}-note`}
          onChange={(event) => onChange(event.target.value)}
        />
      </span>
      {note !== undefined && (
        <span id={`${id}-note`} className={bad === null ? "hint" : "bad"}>
          {note}
        </span>
      )}
    </div>
  );
}
