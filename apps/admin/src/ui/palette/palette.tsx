"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { DrainDialog } from "../drains/drain-dialog.tsx";
import { ScaleDialog } from "../models/scale-dialog.tsx";
import { CordonDialog } from "../nodes/cordon-dialog.tsx";
import { useAvailability } from "../nodes/use-availability.ts";
import { useToast } from "../parts/toasts.tsx";
import { CommandList } from "./command-list.tsx";
import type { Command } from "./entries.ts";

/** The command palette: a list to choose from, and then the dialog of what was chosen. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [asked, setAsked] = useState<Command | null>(null);
  const router = useRouter();
  const say = useToast();
  const change = useAvailability();
  const choose = (command: Command) => {
    if (command.kind === "go") {
      onClose();
      router.push(command.href);
    } else if (command.kind === "uncordon") {
      change.mutate(
        { node: command.node, target: "active" },
        {
          onSuccess: ({ message }) => {
            say(message);
            onClose();
          },
        },
      );
    } else setAsked(command);
  };
  if (asked?.kind === "cordon") return <CordonDialog target={{ node: asked.node, gpu: null }} onClose={onClose} />;
  if (asked?.kind === "drain") return <DrainDialog node={asked.node} onClose={onClose} />;
  if (asked?.kind === "scale") return <ScaleDialog model={asked.model} onClose={onClose} />;
  return <CommandList onChoose={choose} onClose={onClose} busy={change.isPending} error={change.error} />;
}
