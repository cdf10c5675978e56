import { type ControlSettings, defaultControlSettings } from "@llmgw/domain";

/** Durations of the admin itself, ms. */
export interface AdminSettings {
  readonly control: ControlSettings;
  /** The lease of the control loop, and how often its holder renews it. */
  readonly leaseMs: number;
  readonly leaseRenewMs: number;
  /** A pass of the control loop at the latest this long after the one before. */
  readonly passEveryMs: number;
  /** How often each admin reads the version row: this alone bounds how long a change takes to reach anyone. */
  readonly versionReadMs: number;
  /** How long a poll is held with nothing to say. */
  readonly holdMs: number;
  /** As `holdMs` while a drain is open or somebody looks at the dashboard. */
  readonly holdWhileWatchedMs: number;
  /** Reports that nothing waits for are saved together, this often. */
  readonly batchEveryMs: number;
  /** Reports that something waits for are collected this long and saved together. Not scaled. */
  readonly flushAfterMs: number;
  /** How often new audit rows are sealed, and rows past their time are looked for. */
  readonly auditSealEveryMs: number;
  readonly auditPruneEveryMs: number;
  /** How long an agent may take to answer a request for log lines. */
  readonly logsTimeoutMs: number;
  readonly stopKillAfterMs: number;
  readonly signInLinkMs: number;
  readonly sessionMs: number;
  /** How long a credential that was looked up stays known. */
  readonly credentialCacheMs: number;
}

const isDuration = (name: string) => name.endsWith("Ms");

/** The defaults of every duration, scaled by one factor. How long people stay signed in is not scaled. */
export function adminSettings(timeScale: number): AdminSettings {
  const scaled = (ms: number) => Math.max(1, Math.round(ms * timeScale));
  const control = Object.fromEntries(
    Object.entries(defaultControlSettings).map(([name, value]) => [name, isDuration(name) ? scaled(value) : value]),
  ) as unknown as ControlSettings;
  return {
    control,
    leaseMs: scaled(6_000),
    leaseRenewMs: scaled(2_000),
    passEveryMs: scaled(500),
    versionReadMs: scaled(500),
    holdMs: scaled(5_000),
    holdWhileWatchedMs: scaled(1_000),
    batchEveryMs: scaled(1_000),
    flushAfterMs: 15,
    auditSealEveryMs: scaled(1_000),
    auditPruneEveryMs: scaled(3_600_000),
    logsTimeoutMs: 10_000,
    stopKillAfterMs: scaled(30_000),
    signInLinkMs: 10 * 60_000,
    sessionMs: 7 * 86_400_000,
    credentialCacheMs: Math.min(2_000, scaled(2_000)),
  };
}
