"use client";

import { auditVerdict } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import { LoaderCircle, ShieldCheck } from "lucide-react";
import { useTRPC } from "../data/trpc.ts";
import { useDenied } from "../data/whoami.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { ActionError } from "../parts/loaded.tsx";
import { StateIcon } from "../state/states.tsx";

/** Follows the hash chain over the whole history when asked to, and says what it found. */
export function AuditVerify() {
  const trpc = useTRPC();
  const denied = useDenied("audit.verify");
  const query = useQuery({
    ...trpc.audit.verify.queryOptions(undefined, { trpc: { context: { slow: true } } }),
    enabled: false,
    gcTime: 0,
  });
  const found = query.isFetching || query.error !== null ? undefined : query.data;
  const state = found === undefined ? "unknown" : found.problem === null ? "healthy" : "failed";
  return (
    <>
      <section className={`notice s-${state}`} aria-label="Hash chain">
        {query.isFetching ? (
          <LoaderCircle className="ic ic-l spin" aria-hidden />
        ) : found === undefined ? (
          <ShieldCheck className="ic ic-l" aria-hidden />
        ) : (
          <StateIcon state={state} size="ic-l" />
        )}
        <div>
          <p aria-live="polite">
            {found !== undefined
              ? auditVerdict(found)
              : query.isFetching
                ? "Following the hash chain from the oldest entry to the newest…"
                : "Each entry is sealed with a hash over all entries before it. Verify shows whether any was changed or deleted."}
          </p>
        </div>
        <ActionButton
          className="btn is-s"
          denied={query.isFetching ? "Being verified" : denied}
          onClick={() => void query.refetch()}
        >
          Verify
        </ActionButton>
      </section>
      <ActionError error={query.isFetching ? null : query.error} />
    </>
  );
}
