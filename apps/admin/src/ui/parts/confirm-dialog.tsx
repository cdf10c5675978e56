"use client";

import { LoaderCircle } from "lucide-react";
import { AlertDialog } from "radix-ui";
import type { ReactNode } from "react";

interface ConfirmDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly text: ReactNode;
  readonly children?: ReactNode;
  /** Beside the buttons, e.g. the name to type. */
  readonly footer?: ReactNode;
  readonly confirm: string;
  readonly icon?: ReactNode;
  readonly danger?: boolean;
  readonly wide?: boolean;
  readonly busy: boolean;
  /** Why it cannot be confirmed yet; null when it can. */
  readonly blocked?: string | null;
  readonly onConfirm: () => void;
}

/** A decision with its consequences. The focus starts on Cancel, and confirming twice does it once. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { open, onOpenChange, title, text, children, footer, confirm, icon, danger = false, wide = false } = props;
  const { busy, blocked = null, onConfirm } = props;
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => busy || onOpenChange(next)}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="overlay" />
        <AlertDialog.Content className={`dialog is-over ${wide ? "" : "is-small"}`}>
          <header className="dialog-h">
            <div className="grow">
              <AlertDialog.Title asChild>
                <h2>{title}</h2>
              </AlertDialog.Title>
              <AlertDialog.Description asChild>
                <p>{text}</p>
              </AlertDialog.Description>
            </div>
          </header>
          {children !== undefined && (
            <section
              className={`dialog-b ${wide ? "is-split" : ""}`}
              tabIndex={wide ? 0 : undefined}
              aria-label={title}
            >
              {children}
            </section>
          )}
          <footer className="dialog-f">
            <div className="grow">{footer}</div>
            <AlertDialog.Cancel className="btn" disabled={busy}>
              Cancel
            </AlertDialog.Cancel>
            <button
              type="button"
              className={`btn ${danger ? "is-danger-solid" : "is-primary"}`}
              disabled={busy || blocked !== null}
              title={blocked ?? undefined}
              onClick={onConfirm}
            >
              {busy ? <LoaderCircle className="ic spin" aria-hidden /> : icon}
              {confirm}
            </button>
          </footer>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
