"use client";

import { Ban } from "lucide-react";
import { useState } from "react";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { ActionError } from "../parts/loaded.tsx";
import { useToast } from "../parts/toasts.tsx";
import { useAvailability } from "./use-availability.ts";

interface CordonTarget {
  readonly node: string;
  /** One GPU of it; null for the whole node. */
  readonly gpu: { readonly uuid: string; readonly name: string } | null;
}

interface CordonDialogProps {
  readonly target: CordonTarget;
  readonly onClose: () => void;
}

/** Asks for the reason and cordons a node or one GPU: nothing new is placed there, what runs stays. */
export function CordonDialog({ target, onClose }: CordonDialogProps) {
  const [reason, setReason] = useState("");
  const change = useAvailability();
  const say = useToast();
  const name = target.gpu === null ? target.node : `${target.node} ${target.gpu.name}`;
  const confirm = () =>
    change.mutate(
      {
        node: target.node,
        target: "cordoned",
        ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
        ...(target.gpu === null ? {} : { gpu: target.gpu.uuid }),
      },
      {
        onSuccess: ({ message }) => {
          say(message);
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`Cordon ${name}`}
      text="Nothing new is placed on it. What runs there stays and keeps serving."
      confirm={`Cordon ${name}`}
      icon={<Ban className="ic" aria-hidden />}
      busy={change.isPending}
      onConfirm={confirm}
    >
      <TextField
        label="Reason, kept in the audit"
        value={reason}
        onChange={setReason}
        placeholder="e.g. replace fan 3, OPS-2291"
      />
      <ActionError error={change.error} />
    </ConfirmDialog>
  );
}
