"use client";

import type { ModelView } from "@llmgw/api";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { counted } from "../data/format.ts";
import { useTRPC } from "../data/trpc.ts";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { ActionError } from "../parts/loaded.tsx";
import { useToast } from "../parts/toasts.tsx";

const most = 1000;

function countOf(text: string): number | null {
  const count = /^\d{1,4}$/.test(text.trim()) ? Number(text) : null;
  return count !== null && count <= most ? count : null;
}

interface ScaleDialogProps {
  readonly model: ModelView;
  readonly onClose: () => void;
}

/** Asks how many replicas are wanted. Scaling to 0 needs the model's name: nothing would serve it. */
export function ScaleDialog({ model, onClose }: ScaleDialogProps) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const say = useToast();
  const [text, setText] = useState(String(model.desired));
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const scale = useMutation(
    trpc.models.scale.mutationOptions({
      onSuccess: () =>
        Promise.all(
          [trpc.models, trpc.replicas, trpc.cluster].map((router) =>
            queries.invalidateQueries({ queryKey: router.pathKey() }),
          ),
        ),
    }),
  );
  const replicas = countOf(text);
  const toZero = replicas === 0 && model.desired > 0;
  const confirm = () => {
    if (replicas === null) return;
    const why = reason.trim();
    scale.mutate(
      { model: model.id, replicas, ...(why === "" ? {} : { reason: why }) },
      {
        onSuccess: () => {
          say(`${model.id}: ${counted(replicas, "replica")} wanted`);
          onClose();
        },
      },
    );
  };
  const blocked =
    replicas === null ? "Not a number of replicas" : toZero && typed !== model.id ? `Type ${model.id} first` : null;
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`Scale ${model.id}`}
      text={`${model.desired} wanted, ${model.placed} placed, ${model.serving} serving now.`}
      confirm="Scale"
      danger={toZero}
      busy={scale.isPending}
      blocked={blocked}
      onConfirm={confirm}
    >
      <TextField
        label="Replicas wanted"
        value={text}
        onChange={setText}
        bad={replicas === null ? `Write a whole number from 0 to ${most}` : null}
      />
      <TextField label="Reason, kept in the audit" value={reason} onChange={setReason} />
      {toZero && (
        <TextField
          label={
            <>
              Nothing would serve it. Type <b>{model.id}</b> to go on
            </>
          }
          value={typed}
          onChange={setTyped}
        />
      )}
      <ActionError error={scale.error} />
    </ConfirmDialog>
  );
}
