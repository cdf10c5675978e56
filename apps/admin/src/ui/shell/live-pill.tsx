"use client";

import { Pause, Play } from "lucide-react";
import { clock } from "../data/format.ts";
import { useCluster, useLive } from "../data/live.tsx";

/** Says how fresh the page is, and stops it for reading. */
export function LivePill() {
  const { data, error, dataUpdatedAt } = useCluster();
  const { paused, setPaused } = useLive();
  const stale = error !== null;
  const at = data?.now ?? (dataUpdatedAt > 0 ? new Date(dataUpdatedAt).toISOString() : null);
  const word = stale
    ? at === null
      ? "Not connected"
      : "Stale since"
    : paused
      ? "Paused at"
      : at === null
        ? "Connecting"
        : "Live";
  const Icon = paused ? Play : Pause;
  return (
    <button
      type="button"
      className={`live ${stale ? "is-stale" : paused ? "is-paused" : ""}`}
      title={paused ? "Follow the cluster again" : "Stop following the cluster"}
      onClick={() => setPaused(!paused)}
    >
      <i aria-hidden />
      <span>{word}</span>{" "}
      {at !== null && (
        <time dateTime={at}>
          {clock(at)}
          <span className="vh"> UTC</span>
        </time>
      )}
      <Icon className="ic ic-s" aria-hidden />
      <span className="vh">{paused ? ", resume" : ", pause"}</span>
    </button>
  );
}
