import { createDueHeap } from "./due-heap.ts";
import type { KvAllocation, KvCache } from "./kv-cache.ts";
import { interTokenMs, type LatencySettings, prefillMs } from "./latency.ts";
import type { Random } from "./random.ts";

/** One sequence to generate. A request with `n` choices is `n` sequences, as in vLLM. */
export interface SequenceRequest {
  readonly id: string;
  readonly promptTokens: number;
  /** Exactly this many tokens are produced; 0 for an embedding, which ends with its prefill. */
  readonly outputTokens: number;
  readonly prefixHashes: readonly number[];
}

/** Instants of a sequence in engine time, milliseconds. */
export interface SequenceTiming {
  readonly arrivedMs: number;
  readonly scheduledMs: number;
  readonly firstTokenMs: number;
  readonly finishedMs: number;
}

export type SchedulerEvent =
  | { readonly kind: "prefilled"; readonly id: string; readonly promptTokens: number; readonly cachedTokens: number }
  | { readonly kind: "token"; readonly id: string; readonly index: number; readonly sinceMs: number }
  | { readonly kind: "preempted"; readonly id: string }
  | {
      readonly kind: "finished";
      readonly id: string;
      readonly promptTokens: number;
      readonly generatedTokens: number;
      readonly timing: SequenceTiming;
    };

export type SubmitOutcome =
  | { readonly kind: "accepted" }
  | { readonly kind: "queue_full"; readonly limit: "max_num_queued_reqs" | "max_num_queued_tokens" };

export interface SchedulerOptions {
  readonly maxNumSeqs: number;
  readonly maxQueuedRequests: number;
  readonly maxQueuedTokens: number;
  readonly kv: KvCache;
  /** Read at every step, so it may change while sequences run. */
  readonly latency: () => LatencySettings;
  readonly random: Random;
}

/**
 * The engine's scheduler without any clock or input-output of its own: first come first served, at most `maxNumSeqs`
 * at a time, KV blocks for each; when the cache is full the sequence that was started last gives its blocks back and
 * is computed again later, its tokens kept (vLLM's recompute preemption).
 */
export interface Scheduler {
  submit(request: SequenceRequest, nowMs: number): SubmitOutcome;
  /** Frees the place and the blocks of a sequence at once; undefined when there is none with this id. */
  abort(id: string, nowMs: number): { readonly promptTokens: number; readonly generatedTokens: number } | undefined;
  /** Everything that became due up to `nowMs`, in order. */
  advance(nowMs: number): SchedulerEvent[];
  /** When `advance` next has something to do. */
  nextDueMs(): number | undefined;
  runningCount(): number;
  waitingCount(): number;
  ids(): string[];
}

interface Sequence extends SequenceRequest {
  readonly arrivedMs: number;
  scheduledMs: number;
  firstTokenMs: number;
  lastTokenMs: number;
  generated: number;
  prefilled: boolean;
  epoch: number;
  kv: KvAllocation | undefined;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { kv, random, maxNumSeqs } = options;
  const sequences = new Map<string, Sequence>();
  const waiting: Sequence[] = [];
  const running: Sequence[] = [];
  const due = createDueHeap<Sequence>();

  const schedule = (sequence: Sequence, atMs: number) => {
    sequence.epoch += 1;
    due.push({ atMs, epoch: sequence.epoch, subject: sequence });
  };

  const release = (sequence: Sequence) => {
    sequence.epoch += 1;
    remove(running, sequence);
    if (sequence.kv !== undefined) {
      kv.free(sequence.kv);
      sequence.kv = undefined;
    }
  };

  /** Strictly in order: a head that does not fit keeps everybody behind it waiting. */
  const admit = (nowMs: number) => {
    for (let head = waiting[0]; head !== undefined && running.length < maxNumSeqs; head = waiting[0]) {
      const tokens = head.promptTokens + head.generated;
      const allocation = kv.allocate(tokens, head.prefixHashes);
      if (allocation === undefined) {
        return;
      }
      waiting.shift();
      running.push(head);
      head.kv = allocation;
      head.prefilled = false;
      head.scheduledMs = Number.isNaN(head.scheduledMs) ? nowMs : head.scheduledMs;
      const load = { running: running.length, maxNumSeqs, computedTokens: tokens - allocation.cachedTokens };
      schedule(head, nowMs + prefillMs(options.latency(), load, random));
    }
  };

  const finish = (sequence: Sequence, atMs: number): SchedulerEvent => {
    release(sequence);
    sequences.delete(sequence.id);
    admit(atMs);
    const { id, promptTokens, generated, arrivedMs, scheduledMs, firstTokenMs } = sequence;
    const timing = {
      arrivedMs,
      scheduledMs,
      firstTokenMs: Number.isNaN(firstTokenMs) ? atMs : firstTokenMs,
      finishedMs: atMs,
    };
    return { kind: "finished", id, promptTokens, generatedTokens: generated, timing };
  };

  /** True when the sequence has a slot for its next token, having pushed out later ones if need be. */
  const reserveToken = (sequence: Sequence, events: SchedulerEvent[]): boolean => {
    while (sequence.kv !== undefined) {
      if (kv.grow(sequence.kv, sequence.promptTokens + sequence.generated + 1)) {
        return true;
      }
      const victim = running.at(-1);
      if (victim === undefined) {
        throw new Error(`sequence ${sequence.id} holds KV blocks but is not running`);
      }
      release(victim);
      waiting.unshift(victim);
      events.push({ kind: "preempted", id: victim.id });
    }
    return false;
  };

  const step = (sequence: Sequence, atMs: number, events: SchedulerEvent[]) => {
    if (!sequence.prefilled) {
      sequence.prefilled = true;
      if (sequence.generated === 0) {
        const cachedTokens = sequence.kv?.cachedTokens ?? 0;
        events.push({ kind: "prefilled", id: sequence.id, promptTokens: sequence.promptTokens, cachedTokens });
      }
    }
    if (sequence.generated < sequence.outputTokens) {
      if (!reserveToken(sequence, events)) {
        return;
      }
      const sinceMs = atMs - (sequence.generated === 0 ? sequence.arrivedMs : sequence.lastTokenMs);
      if (sequence.generated === 0) {
        sequence.firstTokenMs = atMs;
      }
      sequence.lastTokenMs = atMs;
      events.push({ kind: "token", id: sequence.id, index: sequence.generated, sinceMs });
      sequence.generated += 1;
    }
    if (sequence.generated >= sequence.outputTokens) {
      events.push(finish(sequence, atMs));
      return;
    }
    schedule(sequence, atMs + interTokenMs(options.latency(), { running: running.length, maxNumSeqs }, random));
  };

  const dropSuperseded = () => {
    for (let top = due.peek(); top !== undefined && top.epoch !== top.subject.epoch; top = due.peek()) {
      due.pop();
    }
  };

  return {
    submit(request, nowMs) {
      const total = request.promptTokens + request.outputTokens;
      if (total > kv.capacityTokens) {
        throw new Error(`sequence ${request.id} needs ${total} KV tokens, the whole cache has ${kv.capacityTokens}`);
      }
      const mustWait = waiting.length > 0 || running.length >= maxNumSeqs;
      if (mustWait && waiting.length >= options.maxQueuedRequests) {
        return { kind: "queue_full", limit: "max_num_queued_reqs" };
      }
      if (mustWait && queuedTokens(waiting) + request.promptTokens > options.maxQueuedTokens) {
        return { kind: "queue_full", limit: "max_num_queued_tokens" };
      }
      const sequence: Sequence = {
        ...request,
        arrivedMs: nowMs,
        scheduledMs: Number.NaN,
        firstTokenMs: Number.NaN,
        lastTokenMs: nowMs,
        generated: 0,
        prefilled: false,
        epoch: 0,
        kv: undefined,
      };
      sequences.set(request.id, sequence);
      waiting.push(sequence);
      admit(nowMs);
      return { kind: "accepted" };
    },

    abort(id, nowMs) {
      const sequence = sequences.get(id);
      if (sequence === undefined) {
        return undefined;
      }
      sequences.delete(id);
      remove(waiting, sequence);
      release(sequence);
      admit(nowMs);
      return { promptTokens: sequence.promptTokens, generatedTokens: sequence.generated };
    },

    advance(nowMs) {
      const events: SchedulerEvent[] = [];
      for (;;) {
        dropSuperseded();
        const next = due.peek();
        if (next === undefined || next.atMs > nowMs) {
          return events;
        }
        due.pop();
        step(next.subject, next.atMs, events);
      }
    },

    nextDueMs() {
      dropSuperseded();
      return due.peek()?.atMs;
    },
    runningCount: () => running.length,
    waitingCount: () => waiting.length,
    ids: () => [...sequences.keys()],
  };
}

function queuedTokens(waiting: readonly Sequence[]): number {
  return waiting.reduce((sum, sequence) => sum + sequence.promptTokens, 0);
}

function remove<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) {
    list.splice(at, 1);
  }
}
