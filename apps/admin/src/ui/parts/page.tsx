import Link from "next/link";
import { type ReactNode, useId } from "react";

interface PageHeaderProps {
  readonly title: string;
  /** Badges beside the title. */
  readonly marks?: ReactNode;
  readonly text?: ReactNode;
  readonly actions?: ReactNode;
}

/** Title with its state and at most three actions; below it the page's verdict in a sentence. */
export function PageHeader({ title, marks, text, actions }: PageHeaderProps) {
  return (
    <header className="ph">
      <div className="ph-t">
        <h1>
          {title} {marks}
        </h1>
        {text !== undefined && <p>{text}</p>}
      </div>
      {actions !== undefined && <div className="ph-a">{actions}</div>}
    </header>
  );
}

interface PanelProps {
  readonly title: string;
  readonly text?: ReactNode;
  readonly side?: ReactNode;
  readonly children: ReactNode;
}

export function Panel({ title, text, side, children }: PanelProps) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <div className="panel-h is-ruled">
        <h2 id={id}>{title}</h2>
        {text !== undefined && <p>{text}</p>}
        {side !== undefined && (
          <>
            <span className="grow" />
            {side}
          </>
        )}
      </div>
      {children}
    </section>
  );
}

/** A definition list in a row; entries without a value are left out by the caller. */
interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
  /** In columns, for many facts; else in a row. */
  readonly grid?: boolean;
}

export function Facts({ facts, grid = false }: FactsProps) {
  return (
    <dl className={`facts ${grid ? "is-grid" : ""}`}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function TextLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <Link className="ulink" href={href}>
      {children}
    </Link>
  );
}

export const paths = {
  node: (name: string) => `/nodes/${encodeURIComponent(name)}`,
  model: (id: string) => `/models/${encodeURIComponent(id)}`,
  replica: (id: string) => `/replicas/${encodeURIComponent(id)}`,
  drain: (id: string) => `/drains/${encodeURIComponent(id)}`,
  explain: (model: string) => `/placement?model=${encodeURIComponent(model)}`,
  decision: (replica: string) => `/placement?replica=${encodeURIComponent(replica)}`,
  auditOf: (cause: string) => `/audit?cause=${encodeURIComponent(cause)}`,
} as const;
