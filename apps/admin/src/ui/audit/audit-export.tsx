"use client";

import { csvHead, csvLine, eachAuditPage } from "@llmgw/api";
import { useMutation } from "@tanstack/react-query";
import { Download, Square } from "lucide-react";
import { useRef, useState } from "react";
import { errorFacts } from "../data/error-facts.ts";
import { useTRPCClient } from "../data/trpc.ts";
import { useToast } from "../parts/toasts.tsx";
import { auditFilter, useAuditFilters } from "./audit-filters.tsx";

const formats = {
  csv: { name: "CSV", file: "audit.csv", type: "text/csv", head: csvHead, line: csvLine },
  jsonl: {
    name: "JSON lines",
    file: "audit.jsonl",
    type: "application/x-ndjson",
    head: "",
    line: (row: unknown) => `${JSON.stringify(row)}\n`,
  },
} as const;

type Format = keyof typeof formats;

function save(parts: readonly Blob[], { file, type }: (typeof formats)[Format]): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([...parts], { type }));
  link.download = file;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Saves every entry that passes the filters, not only the page that is shown. */
export function AuditExport() {
  const client = useTRPCClient();
  const say = useToast();
  const [filters] = useAuditFilters();
  const [count, setCount] = useState(0);
  const stop = useRef<AbortController | null>(null);
  const exporting = useMutation({
    mutationFn: async (format: Format) => {
      const { head, line } = formats[format];
      const controller = new AbortController();
      stop.current = controller;
      setCount(0);
      // A blob a page: the browser keeps blobs outside of the page's memory.
      const parts = [new Blob([head])];
      let rows = 0;
      try {
        for await (const page of eachAuditPage(client, auditFilter(filters), controller.signal)) {
          controller.signal.throwIfAborted();
          parts.push(new Blob(page.map(line)));
          rows += page.length;
          setCount(rows);
        }
      } catch (error) {
        if (controller.signal.aborted) return;
        throw error;
      }
      save(parts, formats[format]);
      say(`${rows} entries saved as ${formats[format].file}`);
    },
  });
  if (exporting.isPending) {
    return (
      <button type="button" className="btn" onClick={() => stop.current?.abort()}>
        <Square className="ic" aria-hidden />
        Stop export, <span className="num">{count}</span> read
      </button>
    );
  }
  return (
    <>
      {(["csv", "jsonl"] as const).map((format) => (
        <button key={format} type="button" className="btn" onClick={() => exporting.mutate(format)}>
          <Download className="ic" aria-hidden />
          <span>
            <span className="vh">Export </span>
            {formats[format].name}
          </span>
        </button>
      ))}
      {exporting.error !== null && (
        <span className="sm s-failed fg" role="alert">
          Nothing was saved. {errorFacts(exporting.error).message} Request{" "}
          <code>{errorFacts(exporting.error).requestId ?? "unanswered"}</code>; export again.
        </span>
      )}
    </>
  );
}
