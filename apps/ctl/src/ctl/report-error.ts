import { TRPCClientError } from "@trpc/client";
import { CtlError, type ExitCode, exit } from "./exit.ts";

const codes: Readonly<Record<string, ExitCode>> = {
  NOT_FOUND: exit.notFound,
  UNAUTHORIZED: exit.auth,
  FORBIDDEN: exit.auth,
};

/** Whether the admin could not be reached (rather than having answered with a refusal). */
export function isUnreachable(error: unknown): boolean {
  return error instanceof TRPCClientError && (error.data === undefined || error.data === null);
}

/** The words and the exit code of whatever ended a command. */
export function explainError(error: unknown, url: string): { message: string; exitCode: ExitCode } {
  if (error instanceof CtlError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof TRPCClientError) {
    if (isUnreachable(error)) {
      return {
        message: `cannot reach the admin at ${url}: ${rootMessage(error)}. Is it running there?`,
        exitCode: exit.unreachable,
      };
    }
    const data = error.data as { code?: string; requestId?: string };
    const request = data.requestId === undefined ? "" : ` (request ${data.requestId})`;
    return { message: `${readable(error.message)}${request}`, exitCode: codes[data.code ?? ""] ?? exit.refused };
  }
  throw error;
}

function rootMessage(error: Error): string {
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map((one: unknown) => String(one)).join("; ");
  return cause instanceof Error ? rootMessage(cause) : error.message;
}

/** zod's issues arrive as JSON text: one line each, naming the field. */
function readable(message: string): string {
  try {
    const issues = JSON.parse(message) as { path: (string | number)[]; message: string }[];
    return issues.map(({ path, message: words }) => `${path.join(".") || "input"}: ${words}`).join("\n       ");
  } catch {
    return message;
  }
}
