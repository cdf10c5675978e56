"use client";

import type { DrainPreview } from "@llmgw/api";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowDownToLine } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { errorFacts } from "../data/error-facts.ts";
import { clock } from "../data/format.ts";
import { useNow } from "../data/live.tsx";
import { useTRPC } from "../data/trpc.ts";
import { useAvailability } from "../nodes/use-availability.ts";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { ActionError, Loaded } from "../parts/loaded.tsx";
import { paths } from "../parts/page.tsx";
import { useToast } from "../parts/toasts.tsx";
import { StateIcon } from "../state/states.tsx";
import { PlannedCapacity, PlannedMoves } from "./drain-plan.tsx";
import { GraceField, graceOf } from "./grace-field.tsx";
import { modelsAtZero, planVerdict } from "./plan-words.ts";

/** The grace that is asked with while the text in the field is not a duration. */
const usualGraceMs = 3_600_000;

interface DrainDialogProps {
  readonly node: string;
  readonly onClose: () => void;
}

function isPlan(value: unknown): value is DrainPreview {
  return typeof value === "object" && value !== null && "plan" in value && "moves" in value;
}

/**
 * The plan before anything is touched. Opening it changes nothing; confirming runs exactly the plan that is shown, and
 * when that is not true any more shows the new one instead of running it.
 */
export function DrainDialog({ node, onClose }: DrainDialogProps) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const router = useRouter();
  const say = useToast();
  const now = useNow();
  const change = useAvailability();
  const [grace, setGrace] = useState(() => graceOf("1h"));
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const input = { nodes: [node], graceMs: grace.ms ?? usualGraceMs };
  const preview = trpc.drains.preview.queryOptions(input, { trpc: { context: { slow: true } } });
  const query = useQuery({
    ...preview,
    placeholderData: keepPreviousData,
    refetchInterval: change.isPending ? false : 3000,
  });
  const plan = query.data;
  const zero = plan === undefined ? [] : modelsAtZero(plan);
  const blocked = blockedBy({
    isReady: plan !== undefined && !query.isPlaceholderData,
    isGraceGood: grace.ms !== null,
    mustType: zero.length > 0 && typed !== node,
    node,
  });

  const confirm = () => {
    if (plan === undefined || grace.ms === null) return;
    const why = reason.trim();
    change.mutate(
      { node, target: "draining", plan: plan.plan, graceMs: grace.ms, ...(why === "" ? {} : { reason: why }) },
      {
        onSuccess: ({ drain, message }) => {
          say(message);
          onClose();
          if (drain !== null) router.push(paths.drain(drain.id));
        },
        onError: (error) => {
          const { fresh } = errorFacts(error);
          if (isPlan(fresh)) queries.setQueryData(preview.queryKey, fresh);
        },
      },
    );
  };

  const endsAt = new Date(now + input.graceMs).toISOString();
  return (
    <ConfirmDialog
      open
      wide
      onOpenChange={(open) => open || onClose()}
      title={`Drain ${node}`}
      text={
        plan === undefined
          ? "A preview. Nothing is cordoned or moved by looking at it."
          : `A preview. Nothing has been cordoned or moved. Estimated at ${clock(plan.at)} UTC from snapshot ${plan.snapshotVersion}.`
      }
      confirm={`Drain ${node}`}
      icon={<ArrowDownToLine className="ic" aria-hidden />}
      danger={zero.length > 0}
      busy={change.isPending}
      blocked={blocked}
      onConfirm={confirm}
      footer={zero.length > 0 ? <TypedName node={node} models={zero} value={typed} onChange={setTyped} /> : null}
    >
      <Outcome error={change.error} />
      <div className="is-wide grid gap-3.5">
        <Loaded query={query} what="the plan" rows={3}>
          {(shown) => <Verdict plan={shown} node={node} endsAt={`${endsAt.slice(11, 16)} UTC`} />}
        </Loaded>
      </div>
      {plan !== undefined && <PlannedMoves plan={plan} />}
      <div className="grid gap-3.5 min-w-0 content-start">
        {plan !== undefined && <PlannedCapacity plan={plan} />}
        <GraceField
          label="Grace"
          grace={grace}
          onChange={setGrace}
          hint={`Ends ${endsAt.slice(11, 16)} UTC if started now`}
        />
        <TextField
          label="Reason, kept in the audit"
          value={reason}
          onChange={setReason}
          placeholder="e.g. replace PSU 2, OPS-2291"
        />
      </div>
    </ConfirmDialog>
  );
}

interface Hurdles {
  readonly isReady: boolean;
  readonly isGraceGood: boolean;
  readonly mustType: boolean;
  readonly node: string;
}

function blockedBy({ isReady, isGraceGood, mustType, node }: Hurdles): string | null {
  if (!isReady) return "The plan is still being made";
  if (!isGraceGood) return "The grace is not a duration";
  return mustType ? `Type ${node} first` : null;
}

function Verdict({
  plan,
  node,
  endsAt,
}: {
  readonly plan: DrainPreview;
  readonly node: string;
  readonly endsAt: string;
}) {
  const verdict = planVerdict(plan, node, endsAt);
  return (
    <div className={`verdict s-${verdict.state}`}>
      <StateIcon state={verdict.state} />
      <div>
        <p>
          <b>{verdict.words}</b>
        </p>
        <p>{verdict.detail}</p>
      </div>
    </div>
  );
}

/** Why the drain did not start: a plan that has changed is no error, it only wants another look. */
function Outcome({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  if (errorFacts(error).code !== "PRECONDITION_FAILED") {
    return (
      <div className="is-wide">
        <ActionError error={error} />
      </div>
    );
  }
  return (
    <div className="notice s-blocked is-wide" role="alert">
      <StateIcon state="stale" size="ic-l" />
      <div>
        <p>
          <b>The plan has changed, so nothing was started.</b> The new plan is below: look again, then confirm.
        </p>
      </div>
    </div>
  );
}

interface TypedNameProps {
  readonly node: string;
  readonly models: readonly string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function TypedName({ node, models, value, onChange }: TypedNameProps) {
  return (
    <div className="flex flex-wrap items-end gap-2">
      <TextField
        label={
          <>
            {models.join(", ")} would reach 0. Type <b>{node}</b> to go on
          </>
        }
        value={value}
        onChange={onChange}
      />
    </div>
  );
}
