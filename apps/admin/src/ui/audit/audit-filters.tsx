"use client";

import { debounce, parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useId } from "react";

const outcomes = ["ok", "denied", "failed"] as const;

const filters = {
  actor: parseAsString.withDefault(""),
  verb: parseAsString.withDefault(""),
  target: parseAsString.withDefault(""),
  cause: parseAsString.withDefault(""),
  outcome: parseAsStringLiteral(outcomes),
};

/** The filters as they stand in the URL. */
export function useAuditFilters() {
  return useQueryStates(filters, { history: "replace" });
}

/** Which page, and which of its entries is open, as they stand in the URL. Turning a page is a step that Back undoes. */
export function useAuditPlace() {
  return useQueryStates({ before: parseAsInteger, entry: parseAsInteger }, { history: "push" });
}

/** The filters as the API takes them. */
export function auditFilter({ actor, verb, target, cause, outcome }: ReturnType<typeof useAuditFilters>[0]) {
  return {
    ...(actor === "" ? {} : { actor }),
    ...(verb === "" ? {} : { verb }),
    ...(target === "" ? {} : { target }),
    ...(cause === "" ? {} : { cause }),
    ...(outcome === null ? {} : { outcome }),
  };
}

const texts = [
  ["actor", "Who"],
  ["verb", "What"],
  ["target", "Target"],
  ["cause", "Cause"],
] as const;

export function AuditFilters() {
  const [values, setValues] = useAuditFilters();
  const [, setPlace] = useAuditPlace();
  const id = useId();
  // Other rows pass other filters, so a change starts from the newest again.
  const set: typeof setValues = (...change) => {
    void setPlace(null, { history: "replace" });
    return setValues(...change);
  };
  const isFiltered = values.outcome !== null || texts.some(([name]) => values[name] !== "");
  return (
    <search className="panel-h" aria-label="Filter the history">
      {texts.map(([name, label]) => (
        <span key={name} className="field w-[160px]!">
          <label className="faint sm" htmlFor={`${id}-${name}`}>
            {label}
          </label>
          <input
            id={`${id}-${name}`}
            data-filter={name === "actor" ? true : undefined}
            value={values[name]}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) =>
              void set(
                { [name]: event.target.value === "" ? null : event.target.value },
                { limitUrlUpdates: debounce(300) },
              )
            }
          />
        </span>
      ))}
      <label className="vh" htmlFor={`${id}-outcome`}>
        Outcome
      </label>
      <select
        id={`${id}-outcome`}
        className="field"
        value={values.outcome ?? ""}
        onChange={(event) => void set({ outcome: outcomes.find((each) => each === event.target.value) ?? null })}
      >
        <option value="">Any outcome</option>
        <option value="ok">Ok</option>
        <option value="denied">Denied</option>
        <option value="failed">Failed</option>
      </select>
      {isFiltered && (
        <button type="button" className="btn is-quiet" onClick={() => void set(null)}>
          Clear
        </button>
      )}
    </search>
  );
}
