"use client";

import { dayAndClock, duration } from "./format.ts";
import { useNow } from "./live.tsx";

interface TimeProps {
  readonly at: string;
  /** `absolute` leaves the age out, `age` the clock (it stays in the title). */
  readonly show?: "both" | "absolute" | "age";
}

/** The page knows the cluster's clock only as well as its last answer, so what seems this little ahead is now. */
const justNowMs = 3000;

/** An instant in UTC with its age beside it. Both follow the cluster's clock. */
export function Time({ at, show = "both" }: TimeProps) {
  const now = useNow();
  const ageMs = now - Date.parse(at);
  const age = ageMs >= 1000 ? `${duration(ageMs)} ago` : ageMs > -justNowMs ? "now" : `in ${duration(-ageMs)}`;
  return (
    <span className="nw">
      <time dateTime={at} title={at}>
        {show === "age" ? age : `${dayAndClock(at, now)} UTC`}
      </time>
      {show === "both" && <span className="faint"> {age}</span>}
    </span>
  );
}
