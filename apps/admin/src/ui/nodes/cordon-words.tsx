import type { CordonView } from "@llmgw/api";
import { Time } from "../data/time.tsx";

const owners: Readonly<Record<CordonView["owner"], string>> = {
  operator: "by",
  drain: "drained by",
  health: "by health,",
  flapping: "for flapping,",
};

/** Who closed it, why and since when. */
export function CordonWords({ cordon }: { readonly cordon: CordonView }) {
  return (
    <span className="sub">
      {cordon.reason !== "" && <>{cordon.reason}, </>}
      {owners[cordon.owner]} {cordon.by}, <Time at={cordon.since} show="age" />
    </span>
  );
}
