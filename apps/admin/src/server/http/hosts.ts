import { isLoopback } from "@llmgw/service";

/** The host of a `Host` header without its port and brackets, in lower case; null where there is none. */
function hostName(header: string | undefined): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header ?? "");
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null;
}

/**
 * Whether the admin answers under this name. A page of a stranger whose name was made to point here (DNS rebinding)
 * asks with the stranger's name, and is refused.
 */
export function allowedHost(header: string | undefined, allowed: ReadonlySet<string>): boolean {
  const name = hostName(header);
  return name !== null && (isLoopback(name) || allowed.has(name));
}
