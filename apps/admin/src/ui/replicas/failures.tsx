import type { FailureView } from "@llmgw/api";
import { duration } from "../data/format.ts";
import { Time } from "../data/time.tsx";
import { paths, TextLink } from "../parts/page.tsx";
import { StateIcon } from "../state/states.tsx";

const categories: Readonly<Record<FailureView["exit"]["category"], string>> = {
  out_of_memory: "Out of memory",
  bad_configuration: "Refused its configuration",
  port_in_use: "Port in use",
  gpu_fault: "GPU fault",
  model_not_found: "Model not found",
  load_stalled: "Load stalled",
  killed: "Killed",
  stopped: "Stopped",
  crash: "Crashed",
  unknown: "Ended, cause unknown",
};

function ending({ exit }: FailureView): string {
  const how = exit.signal === null ? `exit code ${exit.code ?? "unknown"}` : `signal ${exit.signal}`;
  return `${how}, after ${duration(exit.ranMs)}${exit.asked ? ", as asked" : ""}`;
}

/** How an engine ended: the first real error, what helps, and the last lines of its log. The log is text, never markup. */
function Failure({ failure }: { readonly failure: FailureView }) {
  const { exit } = failure;
  return (
    <section className="cause" aria-label={`${failure.which} failure of shard ${failure.rank}`}>
      <h2>
        <span className="s-failed fg">
          <StateIcon state="failed" size="ic-l" />
        </span>
        <span>
          Shard {failure.rank}, {failure.which} failure: {categories[exit.category].toLowerCase()}, start{" "}
          {failure.generation} on <TextLink href={paths.node(failure.nodeName)}>{failure.nodeName}</TextLink>
        </span>
      </h2>
      <dl className="cause-g">
        <div>
          <dt>Cause, the first real error</dt>
          <dd>
            <code>{exit.cause}</code>
          </dd>
        </div>
        <div>
          <dt>What helps</dt>
          <dd>{exit.hint ?? "No advice is known for this error."}</dd>
        </div>
        <div>
          <dt>How it ended</dt>
          <dd>
            {ending(failure)}
            <br />
            <Time at={failure.at} />
          </dd>
        </div>
      </dl>
      {exit.tail.length > 0 && (
        <details>
          <summary className="cursor-pointer sm med">Last {exit.tail.length} lines of its log</summary>
          <pre className="json mt-2!">{exit.tail.join("\n")}</pre>
        </details>
      )}
    </section>
  );
}

/** Per shard the first failure and the latest one, when they differ. */
export function Failures({ failures }: { readonly failures: readonly FailureView[] }) {
  return failures.map((failure) => <Failure key={`${failure.rank} ${failure.which}`} failure={failure} />);
}
