/** NOTIFY carries no payload and only speeds things up: whoever listens also looks by itself. */
export const versionChannel = "llmgw_version";
/** An agent or a router reported something that the control loop may act on. */
export const reportChannel = "llmgw_report";
