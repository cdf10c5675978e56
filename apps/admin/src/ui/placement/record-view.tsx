"use client";

import type { PlacementRecord } from "@llmgw/domain";
import { useState } from "react";
import { counted, gib } from "../data/format.ts";
import { Time } from "../data/time.tsx";
import { Panel } from "../parts/page.tsx";
import { sentence } from "../state/gpu-state.ts";
import { gpuRange } from "../state/replica-state.ts";
import { StateIcon } from "../state/states.tsx";
import { CheckMatrix, fewNodes } from "./check-matrix.tsx";
import { ScoresTable } from "./scores-table.tsx";

function chosenGpus(record: PlacementRecord): string {
  const indexes = record.candidates.flatMap((node) => node.gpus.filter((gpu) => gpu.chosen).map((gpu) => gpu.index));
  return gpuRange(indexes);
}

function Verdict({ record, isPast }: { readonly record: PlacementRecord; readonly isPast: boolean }) {
  const { outcome } = record;
  const need = `${counted(record.need.gpus, "GPU")} with ${gib(record.need.memoryMibPerGpu)} free ${record.need.gpus === 1 ? "" : "each "}on a node with ${record.need.engine}`;
  const state = outcome.kind === "placed" ? "healthy" : "blocked";
  return (
    <div className={`verdict s-${state}`} data-testid="placement-verdict">
      <StateIcon state={state} />
      <div>
        {outcome.kind === "placed" ? (
          <p>
            <b>
              {isPast ? "It was placed on" : "It would go to"} {outcome.nodeName} {chosenGpus(record)}.
            </b>{" "}
            {outcome.runnerUp === null ? "No other node fits." : `${outcome.runnerUp} is the runner-up.`}
          </p>
        ) : (
          <p>
            <b>{sentence(outcome.reason)}.</b>
          </p>
        )}
        <p>
          It needs {need}. {record.counts.accepted} of {counted(record.counts.nodes, "node")}{" "}
          {record.counts.accepted === 1 ? "fits" : "fit"}. Decided at <Time at={new Date(record.atMs).toISOString()} />{" "}
          from snapshot {record.snapshotVersion}.
        </p>
      </div>
    </div>
  );
}

/** A placement decision: the verdict, every candidate against every check, and the scores. */
export function RecordView({ record, isPast }: { readonly record: PlacementRecord; readonly isPast: boolean }) {
  const [showsGpus, setShowsGpus] = useState(record.candidates.length <= fewNodes);
  return (
    <>
      <Verdict record={record} isPast={isPast} />
      <Panel
        title="Every candidate, every check"
        text={`The bars count the nodes left after each check, of ${record.candidates.length}.`}
        side={
          <button type="button" className="btn is-s" aria-pressed={showsGpus} onClick={() => setShowsGpus(!showsGpus)}>
            {showsGpus ? "Nodes only" : "Show every GPU"}
          </button>
        }
      >
        <CheckMatrix record={record} showsGpus={showsGpus} />
      </Panel>
      <Panel title="Scores of the accepted">
        <ScoresTable record={record} />
      </Panel>
    </>
  );
}
