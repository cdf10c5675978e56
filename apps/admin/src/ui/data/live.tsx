"use client";

import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { useTRPC } from "./trpc.ts";

interface Live {
  readonly paused: boolean;
  setPaused(paused: boolean): void;
}

const LiveContext = createContext<Live>({ paused: false, setPaused: () => undefined });

/** Holds whether the page follows the cluster or stands still for reading. */
export function LiveProvider({ children }: { readonly children: ReactNode }) {
  const [paused, setPaused] = useState(false);
  const live = useMemo(() => ({ paused, setPaused }), [paused]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

export function useLive(): Live {
  return useContext(LiveContext);
}

/**
 * The options that make a query live: asked again every second, not while paused. React Query itself stops asking while
 * the tab is hidden.
 */
export function usePolling(everyMs = 1000): { readonly refetchInterval: number | false } {
  const { paused } = useLive();
  return { refetchInterval: paused ? false : everyMs };
}

/** The cluster's summary; the shell and every page share this one query. */
export function useCluster() {
  const trpc = useTRPC();
  return useQuery({ ...trpc.cluster.get.queryOptions(), ...usePolling() });
}

/** How far the cluster's clock is ahead of this browser's, ms; 0 before the first answer. */
export function useAheadMs(): number {
  const { data, dataUpdatedAt } = useCluster();
  return data === undefined ? 0 : Date.parse(data.now) - dataUpdatedAt;
}

const ClockContext = createContext(0);

/** One clock for everything under it, so that hundreds of ages on a page change in one drawing a second. */
export function ClockProvider({ children }: { readonly children: ReactNode }) {
  const { dataUpdatedAt } = useCluster();
  const aheadMs = useAheadMs();
  const [tick, setTick] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setTick(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <ClockContext value={Math.max(tick, dataUpdatedAt) + aheadMs}>{children}</ClockContext>;
}

/** The cluster's clock, ms, ticking once a second. Ages are measured against it, never against the browser's own. */
export function useNow(): number {
  return useContext(ClockContext);
}
