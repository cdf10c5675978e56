import type { ModelView } from "@llmgw/api";

/** Desired, placed and serving: three different numbers, with the ones that fall short marked. */
export function ReplicaCount({ model }: { readonly model: ModelView }) {
  const { desired, placed, serving, moving } = model;
  return (
    <span className={`dps ${serving === 0 && desired > 0 ? "s-failed" : "s-degraded"}`}>
      <span>
        {desired}
        <span className="vh"> desired, </span>
      </span>
      <i aria-hidden>/</i>
      <span className={placed < desired ? "short" : ""}>
        {placed}
        <span className="vh"> placed, </span>
      </span>
      <i aria-hidden>/</i>
      <span className={serving < desired ? "short" : ""}>
        {serving}
        <span className="vh"> serving</span>
      </span>
      {moving > 0 && <span className="faint">&nbsp;+{moving} moving</span>}
    </span>
  );
}
