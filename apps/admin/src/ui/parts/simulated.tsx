import { FlaskConical } from "lucide-react";

/** Stands beside everything that only pretends to be a GPU, so that no demo is taken for a cluster. */
export function SimulatedMark() {
  return (
    <span className="sim" title="Simulated: no real GPU and no real model answers here">
      <FlaskConical className="ic ic-s" aria-hidden />
      simulated
    </span>
  );
}
