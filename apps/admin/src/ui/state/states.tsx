import {
  ArrowDownToLine,
  ArrowRightLeft,
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleQuestionMark,
  CircleX,
  Clock,
  ClockAlert,
  LoaderCircle,
  type LucideIcon,
  OctagonX,
  Plug,
  PlugZap,
  Square,
  TriangleAlert,
  Unplug,
} from "lucide-react";
import type { ReactNode } from "react";

export type StateName =
  | "ready"
  | "healthy"
  | "serving"
  | "pending"
  | "queued"
  | "starting"
  | "moving"
  | "draining"
  | "blocked"
  | "cordoned"
  | "degraded"
  | "unhealthy"
  | "unknown"
  | "failed"
  | "stopped"
  | "stale"
  | "closed"
  | "halfopen"
  | "open";

/** A state and the word for it. Colour comes from the name; it never stands without the icon and the word. */
export interface StateWord {
  readonly state: StateName;
  readonly word: string;
}

const icons: Readonly<Record<Exclude<StateName, "serving">, LucideIcon>> = {
  ready: CircleCheck,
  healthy: CircleCheck,
  pending: CircleDashed,
  queued: Clock,
  starting: LoaderCircle,
  moving: ArrowRightLeft,
  draining: ArrowDownToLine,
  blocked: CirclePause,
  cordoned: Ban,
  degraded: TriangleAlert,
  unhealthy: OctagonX,
  unknown: CircleQuestionMark,
  failed: CircleX,
  stopped: Square,
  stale: ClockAlert,
  closed: Plug,
  halfopen: PlugZap,
  open: Unplug,
};

export function StateIcon({ state, size = "" }: { readonly state: StateName; readonly size?: "" | "ic-s" | "ic-l" }) {
  if (state === "serving") {
    return (
      <svg className={`ic ${size}`} viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="5.5" fill="currentColor" stroke="none" />
      </svg>
    );
  }
  const Icon = icons[state];
  return <Icon className={`ic ${size} ${state === "starting" ? "spin" : ""}`} aria-hidden />;
}

interface StatusBadgeProps extends StateWord {
  /** Tinted, for headers and dialogs. */
  readonly chip?: boolean;
}

/** Icon and word of a state. Good states colour their icon only. */
export function StatusBadge({ state, word, chip = false }: StatusBadgeProps) {
  return (
    <span className={`st s-${state} ${chip ? "is-chip" : ""}`}>
      <StateIcon state={state} />
      {word}
    </span>
  );
}

interface ReasonChipProps {
  readonly state: StateName;
  readonly children: ReactNode;
  /** The whole sentence, for the pointer. */
  readonly title?: string;
}

/** Icon and a short reason, for table cells. */
export function ReasonChip({ state, children, title }: ReasonChipProps) {
  return (
    <span className={`reason s-${state}`} title={title}>
      <StateIcon state={state} size="ic-s" />
      <span>{children}</span>
    </span>
  );
}
