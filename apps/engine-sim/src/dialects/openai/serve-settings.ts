import type { SimSettings } from "../../cli/sim-flags.ts";

/** What a serving command was asked to do, whatever the engine calls its flags. */
export interface ServeSettings {
  readonly model: string;
  /** Never empty; the first one labels the metrics and answers. */
  readonly servedNames: readonly [string, ...string[]];
  /** Undefined: every address. */
  readonly host: string | undefined;
  readonly port: number;
  readonly apiKeys: readonly string[];
  readonly maxModelLen: number;
  readonly maxNumSeqs: number;
  readonly maxQueuedRequests: number;
  readonly maxQueuedTokens: number;
  readonly blockSize: number;
  readonly kvBlocks: number;
  readonly gpuMemoryUtilization: number;
  readonly prefixCaching: boolean;
  readonly promptTokensDetails: boolean;
  readonly forceIncludeUsage: boolean;
  /** Whether the model may decide by itself to call a function. */
  readonly autoToolChoice: boolean;
  readonly serverLoadTracking: boolean;
  readonly requestIdHeaders: boolean;
  /** Seconds to let in-flight requests finish after SIGTERM; 0 aborts them. */
  readonly shutdownTimeoutSeconds: number;
  readonly logStats: boolean;
  readonly accessLog: boolean;
  readonly quietEndpoints: readonly string[];
  readonly tensorParallelSize: number;
  readonly pipelineParallelSize: number;
  readonly nodes: NodesSettings;
  readonly sim: SimSettings;
}

/** Place of this process in a replica that spans nodes. */
interface NodesSettings {
  readonly count: number;
  readonly rank: number;
  readonly masterAddress: string;
  readonly masterPort: number;
  /** A follower has no API server at all. */
  readonly headless: boolean;
}
