import type { ReactNode } from "react";

interface ActionButtonProps {
  readonly onClick: () => void;
  readonly children: ReactNode;
  /** Why it cannot be used; null when it can. A disabled button stays reachable, so that the reason can be read. */
  readonly denied: string | null;
  readonly className?: string;
  readonly name?: string;
}

/** A button that says why it is disabled. */
export function ActionButton({ onClick, children, denied, className = "btn", name }: ActionButtonProps) {
  return (
    <button
      type="button"
      className={className}
      aria-label={name}
      aria-disabled={denied !== null}
      title={denied ?? undefined}
      onClick={() => {
        if (denied === null) onClick();
      }}
    >
      {children}
    </button>
  );
}
