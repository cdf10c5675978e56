"use client";

import { type ProcedurePath, permissions, permits } from "@llmgw/api";
import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "./trpc.ts";

export function useWhoAmI() {
  const trpc = useTRPC();
  return useQuery({ ...trpc.cluster.whoAmI.queryOptions(), staleTime: 30_000 });
}

/**
 * Why the signed-in person may not call `path`, as a sentence for the disabled button; null when they may. The server
 * decides again in any case.
 */
export function useDenied(path: ProcedurePath): string | null {
  const { data } = useWhoAmI();
  const needed = permissions[path];
  if (data === undefined) return "Checking what you may do";
  return permits(data.role, needed) ? null : `Needs the role ${needed}; you are ${data.role}`;
}
