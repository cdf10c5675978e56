import { z } from "zod";

/** `run.json`: what a running `llmgw up` tells ctl and scripts on the same machine. Mode 0600. */
export const runFile = z.object({
  adminUrl: z.string(),
  routerUrl: z.string(),
  routerDiagnosticsUrl: z.string(),
  apiKey: z.string(),
  operatorToken: z.string(),
  dashboardUser: z.string().nullable(),
  dashboardPasswordFile: z.string().nullable(),
  model: z.string().nullable(),
  pids: z.record(z.string(), z.int()),
});
export type RunFile = z.infer<typeof runFile>;
