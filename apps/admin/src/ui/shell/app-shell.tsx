"use client";

import { FlaskConical } from "lucide-react";
import type { ReactNode } from "react";
import { ClockProvider, useCluster } from "../data/live.tsx";
import { NavRail } from "./nav-rail.tsx";
import { TopBar } from "./top-bar.tsx";

/** Rail, top bar and the page. When any node is simulated, a strip under the bar says so on every page. */
export function AppShell({ children }: { readonly children: ReactNode }) {
  const { data } = useCluster();
  return (
    <ClockProvider>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div className="shell">
        <NavRail />
        <div className="page">
          <TopBar />
          {data?.simulated === true && (
            <aside className="simbar" aria-label="Simulation">
              <FlaskConical className="ic" aria-hidden />
              <span>
                <b>Simulated nodes.</b> What is marked <i>simulated</i> has no real GPU and no real model.
              </span>
            </aside>
          )}
          <main className="main" id="main" tabIndex={-1}>
            {children}
          </main>
        </div>
      </div>
    </ClockProvider>
  );
}
