"use client";

import type { NodeView } from "@llmgw/api";
import { ArrowDownToLine, Ban, Undo2 } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { errorFacts } from "../data/error-facts.ts";
import { useDenied } from "../data/whoami.ts";
import { DrainDialog } from "../drains/drain-dialog.tsx";
import { ActionButton } from "../parts/action-button.tsx";
import { paths } from "../parts/page.tsx";
import { useToast } from "../parts/toasts.tsx";
import { CordonDialog } from "./cordon-dialog.tsx";
import { useAvailability } from "./use-availability.ts";

interface NodeActionsProps {
  readonly node: NodeView;
  /** Small and quiet in a table row. */
  readonly small?: boolean;
}

/** What an operator can do with a node just now: cordon or uncordon it, drain it or go to its drain. */
export function NodeActions({ node, small = false }: NodeActionsProps) {
  const [asking, setAsking] = useState<"cordon" | "drain" | null>(null);
  const denied = useDenied("nodes.setAvailability");
  const button = small ? "btn is-s is-quiet" : "btn";
  const of = small ? <span className="vh"> {node.name}</span> : null;
  const isOut = node.availability === "cordoned" || node.availability === "drained";
  const close = () => setAsking(null);
  return (
    <>
      {node.availability === "active" && (
        <ActionButton className={button} denied={denied} onClick={() => setAsking("cordon")}>
          <Ban className="ic" aria-hidden />
          <span>Cordon…{of}</span>
        </ActionButton>
      )}
      {isOut && <Uncordon node={node.name} gpu={null} className={button} denied={denied} />}
      {node.openDrainId === null ? (
        <ActionButton
          className={small ? button : "btn is-primary"}
          denied={node.availability === "drained" ? "It is drained already" : denied}
          onClick={() => setAsking("drain")}
        >
          <ArrowDownToLine className="ic" aria-hidden />
          <span>Drain…{of}</span>
        </ActionButton>
      ) : (
        <Link className={small ? button : "btn is-primary"} href={paths.drain(node.openDrainId)}>
          <ArrowDownToLine className="ic" aria-hidden />
          <span>View drain{small ? <span className="vh"> of {node.name}</span> : null}</span>
        </Link>
      )}
      {asking === "cordon" && <CordonDialog target={{ node: node.name, gpu: null }} onClose={close} />}
      {asking === "drain" && <DrainDialog node={node.name} onClose={close} />}
    </>
  );
}

interface UncordonProps {
  readonly node: string;
  readonly gpu: { readonly uuid: string; readonly name: string } | null;
  readonly className: string;
  readonly denied: string | null;
}

/** Takes the operator's cordon away; what the server answers (it may still be kept by health) is said in a toast. */
export function Uncordon({ node, gpu, className, denied }: UncordonProps) {
  const change = useAvailability();
  const say = useToast();
  const what = gpu === null ? node : `${node} ${gpu.name}`;
  const uncordon = () =>
    change.mutate(
      { node, target: "active", ...(gpu === null ? {} : { gpu: gpu.uuid }) },
      { onSuccess: ({ message }) => say(message) },
    );
  return (
    <>
      <ActionButton className={className} denied={change.isPending ? "Being uncordoned" : denied} onClick={uncordon}>
        <Undo2 className="ic" aria-hidden />
        <span>
          Uncordon<span className="vh"> {what}</span>
        </span>
      </ActionButton>
      {change.error !== null && (
        <span className="sm s-failed fg" role="alert">
          {errorFacts(change.error).message}
        </span>
      )}
    </>
  );
}
