"use client";

import {
  describeReason,
  type GpuCandidate,
  type NodeCandidate,
  type PlacementRecord,
  type PlacementRule,
  placementRules,
  type RuleResult,
} from "@llmgw/domain";
import { Check, ChevronDown, ChevronRight, X } from "lucide-react";
import { Fragment, useState } from "react";
import { gib } from "../data/format.ts";
import { vars } from "../parts/memory-bar.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { roles } from "../parts/table-roles.ts";
import { sentence } from "../state/gpu-state.ts";
import { funnelOf, ruleWords, shortReason } from "./rule-words.ts";

interface CellProps {
  readonly results: readonly RuleResult[];
  readonly rule: PlacementRule;
  /** A number beside a passed check, e.g. the free memory. */
  readonly passed?: string;
  readonly isFirst: boolean;
}

function Cell({ results, rule, passed = "", isFirst }: CellProps) {
  const result = results.find((each) => each.rule === rule);
  if (result === undefined) {
    return <td {...roles.cell} className="is-pass" />;
  }
  if (result.pass) {
    return (
      <td {...roles.cell} className="is-pass">
        <span className="ck is-y">
          <Check className="ic" aria-hidden />
          <span>
            <span className="vh">passes</span>
            <small>{passed}</small>
          </span>
        </span>
      </td>
    );
  }
  const { word, detail } = shortReason(result.reason);
  return (
    <td {...roles.cell} title={describeReason(result.reason)}>
      <span className={`ck is-n ${isFirst ? "is-first" : ""}`} data-l={ruleWords[rule]}>
        <X className="ic" aria-hidden />
        <span>
          <span className="vh">{isFirst ? "fails first: " : "fails: "}</span>
          <u>{word}</u>
          <small>{detail}</small>
        </span>
      </span>
    </td>
  );
}

function nodeVerdict(node: NodeCandidate, winner: string | null): string {
  if (node.accepted) return node.nodeName === winner ? "Chosen" : "Fits";
  const failed = node.results.find((result) => !result.pass && result.rule === node.firstFailed);
  return failed === undefined || failed.pass ? "Does not fit" : sentence(failed.reason);
}

function gpuVerdict(gpu: GpuCandidate): string {
  if (gpu.chosen) return "Chosen";
  const failed = gpu.results.find((result) => !result.pass);
  if (failed !== undefined && !failed.pass) return sentence(failed.reason);
  const held = gpu.holders.map((holder) => `${holder.id} ${gib(holder.mib)}`).join(", ");
  return held === "" ? "Fits, empty" : `Fits beside ${held}`;
}

function GpuRow({ gpu, isLast }: { readonly gpu: GpuCandidate; readonly isLast: boolean }) {
  const first = gpu.results.find((result) => !result.pass)?.rule ?? null;
  return (
    <tr {...roles.row} className={`gpu ${isLast ? "is-last" : ""}`}>
      <th {...roles.rowHead}>GPU {gpu.index}</th>
      {placementRules.map((rule) => (
        <Cell
          key={rule}
          results={gpu.results}
          rule={rule}
          isFirst={rule === first}
          {...(rule === "memory" && gpu.freeMib !== null ? { passed: gib(gpu.freeMib) } : {})}
        />
      ))}
      <td {...roles.cell} className={gpu.chosen ? "s-healthy fg strong" : "muted"}>
        {gpuVerdict(gpu)}
      </td>
    </tr>
  );
}

interface NodeRowsProps {
  readonly node: NodeCandidate;
  readonly winner: string | null;
  readonly startsOpen: boolean;
}

function NodeRows({ node, winner, startsOpen }: NodeRowsProps) {
  const [isOpen, setOpen] = useState(startsOpen);
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  return (
    <Fragment>
      <tr {...roles.row}>
        <th {...roles.rowHead}>
          <span className="inline-flex items-center gap-1.5">
            <button
              type="button"
              className="btn is-quiet is-s is-icon -ml-2!"
              aria-expanded={isOpen}
              disabled={node.gpus.length === 0}
              aria-label={`GPUs of ${node.nodeName}`}
              onClick={() => setOpen(!isOpen)}
            >
              <Chevron className="ic ic-s" aria-hidden />
            </button>
            <TextLink href={paths.node(node.nodeName)}>{node.nodeName}</TextLink>
          </span>
        </th>
        {placementRules.map((rule) => (
          <Cell key={rule} results={node.results} rule={rule} isFirst={rule === node.firstFailed} />
        ))}
        <td {...roles.cell} className={`med ${node.accepted ? "s-healthy fg" : ""}`}>
          {nodeVerdict(node, winner)}
        </td>
      </tr>
      {isOpen &&
        node.gpus.map((gpu, index) => <GpuRow key={gpu.uuid} gpu={gpu} isLast={index === node.gpus.length - 1} />)}
    </Fragment>
  );
}

/** Up to this many nodes all their GPUs are shown at once. */
export const fewNodes = 4;

interface CheckMatrixProps {
  readonly record: PlacementRecord;
  /** Every node starts with its GPUs shown. */
  readonly showsGpus: boolean;
}

/** Every candidate against every check, with the numbers; the bars in the head count the nodes left after each. */
export function CheckMatrix({ record, showsGpus }: CheckMatrixProps) {
  const total = Math.max(1, record.candidates.length);
  const winner = record.outcome.kind === "placed" ? record.outcome.nodeName : null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls sideways must be reachable by keyboard
    <section className="tw" tabIndex={0} aria-label="Every candidate, table">
      <table {...roles.table} className="mx" aria-label="Every candidate, every check">
        <colgroup>
          <col className="w-[116px]" />
          {placementRules.map((rule) => (
            <col key={rule} />
          ))}
          <col className="w-[210px]" />
        </colgroup>
        <thead {...roles.group}>
          <tr {...roles.row}>
            <th {...roles.head}>Candidate</th>
            {funnelOf(record, placementRules).map(({ rule, before, after }) => (
              <th key={rule} {...roles.head} className={before === after ? "is-same" : ""}>
                <div className="fn" style={vars({ "--total": total })}>
                  <div className="fn-b" aria-hidden>
                    <i className={after < before ? "is-cut" : ""} style={vars({ "--v": after, "--w": before })} />
                  </div>
                  <div>
                    <b>
                      {after}
                      {after < before && <em>−{before - after}</em>}
                    </b>
                    {ruleWords[rule]}
                  </div>
                </div>
              </th>
            ))}
            <th {...roles.head}>Verdict</th>
          </tr>
        </thead>
        <tbody {...roles.group}>
          {record.candidates.map((node) => (
            <NodeRows
              key={`${node.nodeId} ${showsGpus}`}
              node={node}
              winner={winner}
              startsOpen={showsGpus || node.nodeName === winner}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}
