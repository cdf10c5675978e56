import Link from "next/link";
import { Fragment } from "react";
import { counted } from "../data/format.ts";
import { isBlocked } from "../state/drain-state.ts";
import { StateIcon, type StateName } from "../state/states.tsx";
import type { OverviewFacts } from "./attention.ts";

interface Clause {
  readonly state: StateName;
  readonly href: string;
  readonly words: string;
}

function clauses({ cluster, nodes, models, drains }: OverviewFacts): readonly Clause[] {
  const wanted = models.filter((model) => model.deletedAt === null && model.desired > 0);
  const down = wanted.filter((model) => model.serving + model.moving === 0).length;
  const short = wanted.filter((model) => model.serving < model.desired).length - down;
  const lost = nodes.filter((node) => node.liveness === "lost").length;
  const silent = nodes.filter((node) => node.liveness === "suspect").length;
  const stuck = drains.flatMap((drain) => drain.moves).filter((move) => isBlocked(move)).length;
  const is = (count: number) => (count === 1 ? "is" : "are");
  const all: readonly (Clause & { readonly holds: boolean })[] = [
    { holds: cluster.leader === null, state: "failed", href: "/audit", words: "no admin runs the control loop" },
    { holds: down > 0, state: "failed", href: "/models", words: `${counted(down, "model")} ${is(down)} down` },
    { holds: lost > 0, state: "failed", href: "/nodes", words: `${counted(lost, "node")} ${is(lost)} lost` },
    { holds: stuck > 0, state: "blocked", href: "/drains", words: `${counted(stuck, "replica")} cannot move` },
    {
      holds: short > 0,
      state: "degraded",
      href: "/models",
      words: `${counted(short, "model")} ${short === 1 ? "serves" : "serve"} with less than was asked for`,
    },
    { holds: silent > 0, state: "stale", href: "/nodes", words: `${counted(silent, "node")} ${is(silent)} silent` },
    {
      holds: cluster.gpus.excluded > 0,
      state: "unhealthy",
      href: "/nodes",
      words: `${cluster.gpus.excluded} of ${counted(cluster.gpus.total, "GPU")} ${is(cluster.gpus.excluded)} excluded`,
    },
    {
      holds: drains.length > 0,
      state: "draining",
      href: "/drains",
      words: `${counted(drains.length, "drain")} ${is(drains.length)} running`,
    },
  ];
  return all.filter((clause) => clause.holds);
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The cluster in one sentence: the three worst things, or that all is well. */
export function HealthSentence({ facts }: { readonly facts: OverviewFacts }) {
  const shown = clauses(facts).slice(0, 3);
  if (facts.nodes.length === 0) return <h1>No node has joined yet.</h1>;
  if (shown.length === 0) {
    return (
      <h1>
        <span className="s-healthy fg">
          <StateIcon state="healthy" />
        </span>
        {facts.models.length === 0
          ? "All nodes are ready. No model is deployed yet."
          : "Everything that was asked for is serving."}
      </h1>
    );
  }
  return (
    <h1>
      {shown.map((clause, index) => (
        <Fragment key={clause.words}>
          {index > 0 && (index === shown.length - 1 ? " and " : ", ")}
          <Link className={`s-${clause.state}`} href={clause.href}>
            <StateIcon state={clause.state} />
            {index === 0 ? capital(clause.words) : clause.words}
          </Link>
        </Fragment>
      ))}
      .
    </h1>
  );
}
