/**
 * Every `LLMGW_*` environment variable some llmgw program reads. One environment is often shared by several programs
 * (compose, systemd), so a program accepts the variables of the others and refuses only what none of them knows.
 */
export const knownVariables: readonly string[] = [
  "LLMGW_ADMIN_CA",
  "LLMGW_ADMIN_LISTEN",
  "LLMGW_ADMIN_URL",
  "LLMGW_AGENT_ADVERTISE",
  "LLMGW_AGENT_CREDENTIAL",
  "LLMGW_AGENT_DIAG_LISTEN",
  "LLMGW_AGENT_LABELS",
  "LLMGW_AGENT_PORTS",
  "LLMGW_ALLOWED_HOSTS",
  "LLMGW_ALLOW_PLAINTEXT",
  "LLMGW_CONTEXT",
  "LLMGW_DATA_DIR",
  "LLMGW_DIAG_TOKEN",
  "LLMGW_ENGINE_ENV_FILE",
  "LLMGW_GPUS",
  "LLMGW_JOIN_TOKEN",
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
  "LLMGW_URL",
];
