"use client";

import { RotateCw } from "lucide-react";
import { StateIcon } from "../state/states.tsx";

/** A page that broke while it was drawn. The rail and the bar stay. */
export function Broken({ what, onRetry }: { readonly what: string; readonly onRetry: () => void }) {
  return (
    <div className="notice s-failed" role="alert">
      <StateIcon state="failed" size="ic-l" />
      <div>
        <p>
          <b>This page could not be drawn.</b> {what}
        </p>
        <p className="muted">The cluster is not affected. The browser's console has the details.</p>
      </div>
      <button type="button" className="btn is-s" onClick={onRetry}>
        <RotateCw className="ic" aria-hidden />
        Try again
      </button>
    </div>
  );
}
