"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { usePolling } from "../data/live.tsx";
import { useTRPC } from "../data/trpc.ts";

/** The ids of the models that run on simulated nodes, so that their replicas can be marked too. */
export function useSimulatedModels(): ReadonlySet<string> {
  const trpc = useTRPC();
  const { data } = useQuery({ ...trpc.models.list.queryOptions(), ...usePolling(5000) });
  return useMemo(() => new Set((data ?? []).filter((model) => model.simulated).map((model) => model.id)), [data]);
}
