import { didYouMean } from "./did-you-mean.ts";

/**
 * Every `LLMGW_*` environment variable some llmgw program reads. One environment is often shared by several programs
 * (compose, systemd), so a program accepts the variables of the others and refuses only what none of them knows.
 */
export const knownVariables: readonly string[] = [
  "LLMGW_ADMIN_CA",
  "LLMGW_ADMIN_LISTEN",
  "LLMGW_ADMIN_URL",
  "LLMGW_AGENT_ADVERTISE",
  "LLMGW_AGENT_DIAG_LISTEN",
  "LLMGW_AGENT_LABELS",
  "LLMGW_AGENT_PORTS",
  "LLMGW_ALLOWED_HOSTS",
  "LLMGW_AUDIT_KEEP",
  "LLMGW_ALLOW_PLAINTEXT",
  "LLMGW_DATA_DIR",
  "LLMGW_DIAG_TOKEN",
  "LLMGW_ENGINE_ENV_FILE",
  "LLMGW_GPUS",
  "LLMGW_JOIN_TOKEN",
  "LLMGW_KERNEL_LOG",
  "LLMGW_KEYS_MAX_AGE",
  "LLMGW_LOG_LEVEL",
  "LLMGW_MODELS_DIR",
  "LLMGW_NODE_NAME",
  "LLMGW_POSTGRES_PORT",
  "LLMGW_ROUTER_DIAG_LISTEN",
  "LLMGW_ROUTER_LISTEN",
  "LLMGW_ROUTER_TOKEN",
  "LLMGW_ROUTER_URL",
  "LLMGW_TIME_SCALE",
  "LLMGW_TOKEN",
];

/**
 * What is wrong with the `LLMGW_*` variables of an environment: a sentence for each that no program reads. `own` are those
 * of the program that asks.
 */
export function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  own: readonly string[] = [],
): string[] {
  const known = [...new Set([...knownVariables, ...own])];
  return Object.keys(env)
    .filter((name) => name.startsWith("LLMGW_") && !known.includes(name))
    .sort((a, b) => a.localeCompare(b))
    .map((name) => {
      const near = didYouMean(name, known);
      return `${name} is not a setting of any llmgw program${near === undefined ? "" : `; did you mean ${near}?`}`;
    });
}
