import type { ReactNode } from "react";
import { Command } from "./copy.tsx";

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** The command that fills this place. */
  readonly command?: string;
}

/** What stands where nothing is yet: what would fill it, and the command that does. */
export function Empty({ title, children, command }: EmptyProps) {
  return (
    <div className="empty">
      <b>{title}</b>
      {children !== undefined && <p>{children}</p>}
      {command !== undefined && <Command>{command}</Command>}
    </div>
  );
}
