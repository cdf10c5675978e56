"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

interface CopyButtonProps {
  readonly text: string;
  /** Shown beside the icon; without it `name` is the accessible name of the icon alone. */
  readonly label?: string;
  readonly name: string;
}

type Copied = "no" | "yes" | "refused";

export function CopyButton({ text, label, name }: CopyButtonProps) {
  const [copied, setCopied] = useState<Copied>("no");
  useEffect(() => {
    if (copied === "no") return;
    const timer = setTimeout(() => setCopied("no"), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    // The clipboard exists only on https and on loopback.
    const writing = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
    writing.then(
      () => setCopied("yes"),
      () => setCopied("refused"),
    );
  };
  const Icon = copied === "yes" ? Check : Copy;
  const word = copied === "yes" ? "Copied" : copied === "refused" ? "Not allowed here" : label;
  return (
    <button
      type="button"
      className={label === undefined ? "btn is-quiet is-s is-icon" : "btn"}
      aria-label={label === undefined ? name : undefined}
      title={copied === "refused" ? "The browser allows copying only over https or on this machine" : undefined}
      onClick={copy}
    >
      <Icon className="ic" aria-hidden />
      {label !== undefined && word}
    </button>
  );
}

/** A command to paste into a terminal. */
export function Command({ children }: { readonly children: string }) {
  return (
    <span className="cmd">
      <code>{children}</code>
      <CopyButton text={children} name={`Copy ${children}`} />
    </span>
  );
}
