export { type Backoff, backoffMs } from "./backoff.ts";
export { type BuildInfo, buildInfo } from "./build-info.ts";
export { type Clock, systemClock } from "./clock.ts";
export { ConfigError, HelpRequested } from "./config-error.ts";
export {
  createDiagnosticsHandler,
  type DiagnosticsHandler,
  type DiagnosticsOptions,
  type Health,
} from "./diagnostics/handler.ts";
export { type DiagnosticsServer, type DiagnosticsServerOptions, serveDiagnostics } from "./diagnostics/serve.ts";
export { didYouMean } from "./did-you-mean.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { type JsonFile, readJsonFile, writeFileAtomic } from "./files.ts";
export { formatHelp } from "./format-help.ts";
export { type GpuSpec, gpuSpec, parseGpuSpec } from "./gpu-spec.ts";
export { type HeldDirectory, holdDirectory } from "./hold-directory.ts";
export { newId, uuidv7 } from "./ids.ts";
export { knownVariables } from "./known-variables.ts";
export { type AddressSetting, type BoundAddress, hostPort, listen } from "./listen.ts";
export { findListenerPid } from "./listener-pid.ts";
export { createLogger, type Logger, type LoggerOptions, type LogLevel, logLevel } from "./logger.ts";
export { isLoopback, refusePlaintextOffLoopback } from "./loopback.ts";
export {
  parseSettings,
  readSettings,
  type SettingSource,
  type SettingsInput,
  type SettingsReading,
} from "./parse-settings.ts";
export { type ProgramFile, programCommand } from "./program-command.ts";
export { type RunGroupOptions, type RunGroupPart, runGroup } from "./run-group.ts";
export { runMain } from "./run-main.ts";
export { newSecret, secretsEqual, sha256Hex } from "./secrets.ts";
export {
  duration,
  httpUrl,
  type ListenAddress,
  labels,
  listenAddress,
  type PortRange,
  portRange,
  textSchema,
} from "./setting-schemas.ts";
export {
  type About,
  defineSettings,
  type Setting,
  type SettingsDefinition,
  type SettingsOf,
  type SettingsRecord,
} from "./settings.ts";
