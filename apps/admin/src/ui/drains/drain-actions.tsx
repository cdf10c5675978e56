"use client";

import type { DrainView } from "@llmgw/api";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Timer, Undo2 } from "lucide-react";
import { useState } from "react";
import { clock, counted } from "../data/format.ts";
import { useTRPC } from "../data/trpc.ts";
import { useDenied } from "../data/whoami.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { ActionError } from "../parts/loaded.tsx";
import { useToast } from "../parts/toasts.tsx";
import { moveStateOf } from "../state/drain-state.ts";
import { GraceField, graceOf } from "./grace-field.tsx";

type Asking = "extend" | "stop" | "force" | null;

interface DialogProps {
  readonly drain: DrainView;
  readonly onClose: () => void;
}

/** After a change of a drain: what is shown of it and of its node is asked again. */
function useRefresh() {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return () =>
    Promise.all(
      [trpc.drains, trpc.nodes, trpc.cluster, trpc.replicas].map((router) =>
        queries.invalidateQueries({ queryKey: router.pathKey() }),
      ),
    );
}

function ExtendDialog({ drain, onClose }: DialogProps) {
  const trpc = useTRPC();
  const say = useToast();
  const [grace, setGrace] = useState(() => graceOf("30m"));
  const extend = useMutation(trpc.drains.extend.mutationOptions({ onSuccess: useRefresh() }));
  const ends = grace.ms === null ? null : new Date(Date.parse(drain.deadlineAt) + grace.ms).toISOString();
  const confirm = () => {
    if (grace.ms === null) return;
    extend.mutate(
      { drain: drain.id, graceMs: grace.ms },
      {
        onSuccess: (view) => {
          say(`The grace of ${drain.nodeName} now ends at ${clock(view.deadlineAt)} UTC`);
          onClose();
        },
      },
    );
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`Extend the grace of ${drain.nodeName}`}
      text="What cannot move yet may wait longer for room before it is stopped."
      confirm="Extend grace"
      icon={<Timer className="ic" aria-hidden />}
      busy={extend.isPending}
      blocked={grace.ms === null ? "The length is not a duration" : null}
      onConfirm={confirm}
    >
      <GraceField
        label="Longer by"
        grace={grace}
        onChange={setGrace}
        hint={ends === null ? "" : `Then it ends at ${clock(ends)} UTC`}
      />
      <ActionError error={extend.error} />
    </ConfirmDialog>
  );
}

function StopDialog({ drain, onClose }: DialogProps) {
  const trpc = useTRPC();
  const say = useToast();
  const [uncordon, setUncordon] = useState(false);
  const [reason, setReason] = useState("");
  const stop = useMutation(trpc.drains.stop.mutationOptions({ onSuccess: useRefresh() }));
  const confirm = () =>
    stop.mutate(
      { drain: drain.id, uncordon, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) },
      {
        onSuccess: () => {
          say(
            `The drain of ${drain.nodeName} was stopped; the node ${uncordon ? "takes work again" : "stays cordoned"}`,
          );
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`Stop the drain of ${drain.nodeName}`}
      text="What has moved stays moved. What has not moved stays and keeps serving."
      confirm="Stop drain"
      icon={<Undo2 className="ic" aria-hidden />}
      busy={stop.isPending}
      onConfirm={confirm}
    >
      <fieldset className="formrow">
        <legend className="lab med">Afterwards the node</legend>
        <label className="flex items-center gap-2 font-normal!">
          <input type="radio" name="after" checked={!uncordon} onChange={() => setUncordon(false)} />
          stays cordoned
        </label>
        <label className="flex items-center gap-2 font-normal!">
          <input type="radio" name="after" checked={uncordon} onChange={() => setUncordon(true)} />
          takes new work again
        </label>
      </fieldset>
      <TextField label="Reason, kept in the audit" value={reason} onChange={setReason} />
      <ActionError error={stop.error} />
    </ConfirmDialog>
  );
}

function ForceDialog({ drain, onClose }: DialogProps) {
  const trpc = useTRPC();
  const say = useToast();
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const force = useMutation(trpc.drains.force.mutationOptions({ onSuccess: useRefresh() }));
  const left = drain.moves.filter((move) => move.step !== "stopped");
  const inflight = left.reduce((sum, move) => sum + move.inflight, 0);
  const confirm = () =>
    force.mutate(
      { drain: drain.id, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) },
      {
        onSuccess: () => {
          say(`The drain of ${drain.nodeName} is forced`);
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      open
      danger
      onOpenChange={(open) => open || onClose()}
      title={`Force the drain of ${drain.nodeName}`}
      text={`What has no replacement yet gets nothing new from now on and stops when its requests are done. ${counted(inflight, "request")} in flight on what is left.`}
      confirm="Force now"
      busy={force.isPending}
      blocked={typed === drain.nodeName ? null : `Type ${drain.nodeName} first`}
      onConfirm={confirm}
    >
      <ul className="grid gap-1 sm">
        {left.map((move) => (
          <li key={move.replicaId}>
            <b>{move.replicaId}</b>: {moveStateOf(move).word}
          </li>
        ))}
      </ul>
      <TextField label="Reason, kept in the audit" value={reason} onChange={setReason} />
      <TextField
        label={
          <>
            Type <b>{drain.nodeName}</b> to go on
          </>
        }
        value={typed}
        onChange={setTyped}
      />
      <ActionError error={force.error} />
    </ConfirmDialog>
  );
}

/** What an operator can do with a running drain: give it time, stop it, or force it. */
export function DrainActions({ drain }: { readonly drain: DrainView }) {
  const [asking, setAsking] = useState<Asking>(null);
  const deniedExtend = useDenied("drains.extend");
  const deniedStop = useDenied("drains.stop");
  const deniedForce = useDenied("drains.force");
  const close = () => setAsking(null);
  return (
    <>
      <ActionButton denied={deniedExtend} onClick={() => setAsking("extend")}>
        <Timer className="ic" aria-hidden />
        Extend grace…
      </ActionButton>
      <ActionButton denied={deniedStop} onClick={() => setAsking("stop")}>
        <Undo2 className="ic" aria-hidden />
        Stop drain…
      </ActionButton>
      <ActionButton
        className="btn is-danger"
        denied={drain.forcedAt === null ? deniedForce : "It is forced already"}
        onClick={() => setAsking("force")}
      >
        Force now…
      </ActionButton>
      {asking === "extend" && <ExtendDialog drain={drain} onClose={close} />}
      {asking === "stop" && <StopDialog drain={drain} onClose={close} />}
      {asking === "force" && <ForceDialog drain={drain} onClose={close} />}
    </>
  );
}
