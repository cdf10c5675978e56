"use client";

import type { ReplicaView } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { usePolling } from "../data/live.tsx";
import { useTRPC } from "../data/trpc.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";

const shownLines = 200;

function toneOf(line: string): string {
  if (/\b(ERROR|CRITICAL|FATAL|Traceback)\b/.test(line)) return "e";
  return /\bWARN(ING)?\b/.test(line) ? "w" : "";
}

/** The last lines of an engine's log, of this run or of the one before, asked from its agent. Always shown as text. */
export function LogViewer({ replica }: { readonly replica: ReplicaView }) {
  const trpc = useTRPC();
  const [rank, setRank] = useState(0);
  const [previous, setPrevious] = useState(false);
  const ranks = [...new Set(replica.shards.map((shard) => shard.rank))].sort((a, b) => a - b);
  const input = { replica: replica.id, rank, lines: shownLines, previous };
  const query = useQuery({
    ...trpc.replicas.logs.queryOptions(input, { trpc: { context: { slow: true } } }),
    ...usePolling(3000),
  });
  return (
    <section className="panel" id="log" aria-labelledby="log-title">
      <div className="log-h">
        <h2 id="log-title">Log</h2>
        {ranks.length > 1 && (
          <fieldset className="seg" aria-label="Shard">
            {ranks.map((each) => (
              <button key={each} type="button" aria-pressed={each === rank} onClick={() => setRank(each)}>
                Shard {each}
              </button>
            ))}
          </fieldset>
        )}
        <fieldset className="seg" aria-label="Run">
          <button type="button" aria-pressed={!previous} onClick={() => setPrevious(false)}>
            This run
          </button>
          <button type="button" aria-pressed={previous} onClick={() => setPrevious(true)}>
            Previous run
          </button>
        </fieldset>
        <span className="grow" />
        <button type="button" className="btn is-s" disabled={query.isFetching} onClick={() => void query.refetch()}>
          <RotateCw className="ic" aria-hidden />
          Refresh
        </button>
        {query.data !== undefined && <CopyButton text={query.data.lines.join("\n")} name="Copy the log" />}
      </div>
      <Loaded query={query} what="the log" rows={6}>
        {({ lines, truncated }) =>
          lines.length === 0 ? (
            <Empty title={previous ? "There was no run before this one" : "It has written nothing yet"} />
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a log that scrolls must be reachable by keyboard
            <section className="log" tabIndex={0} aria-label={`Log of shard ${rank}`}>
              <ol>
                {truncated && (
                  <li className="block!">
                    <span className="fold">only the last {lines.length} lines are shown</span>
                  </li>
                )}
                {lines.map((line, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing else that names it
                  <li key={index}>
                    <span>{index + 1}</span>
                    <code className={toneOf(line)}>{line}</code>
                  </li>
                ))}
              </ol>
            </section>
          )
        }
      </Loaded>
    </section>
  );
}
