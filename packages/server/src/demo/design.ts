// What the replay asks of a design, Recoup or naive: the same calls, and the same books to judge it by.
import type { Outage } from './outages.ts';
import type { DemoJob } from './trace.ts';

/** Both designs get the same: queue, time-outs, retries, back-off. */
export const rules = {
  queue: 'inference',
  workers: 3,
  concurrency: 32,
  timeoutMs: 800,
  /** Slow work takes longer than the time-out. */
  slowMs: [1000, 2500],
  maxFailures: 3,
  backoffBaseMs: 200,
  backoffMaxMs: 1000,
  retryAfterMaxMs: 1000,
  /** How long a killed worker's jobs stay its own. */
  leaseMs: 3000,
  /** How long a job may wait for the callback of work that is still going on. */
  deadlineMs: 3000,
} as const;

/** A signal about one attempt of a job, wherever it came from. */
export interface Signal {
  wallet: string;
  job: string;
  attempt: number;
  status: 'succeeded' | 'failed';
  reason?: string;
}

export interface Progress {
  ended: number;
  succeeded: number;
  dead: number;
  /** Jobs whose price went back at least once. */
  refunded: number;
  /** Jobs whose price was taken again after that. */
  reclaimed: number;
}

/** What a design says in the end; the ground truth says whether it is right. */
export interface Books {
  /** By wallet. */
  balances: Map<string, number>;
  /** What each job has taken from its wallet, by job. */
  taken: Map<string, number>;
  /** Jobs that ended, well or badly. */
  ended: Set<string>;
}

/** The main process's side of a design; the workers' side stands in worker.ts. */
export interface Design extends AsyncDisposable {
  readonly name: 'Recoup' | 'naive';
  /** The price is charged and the job is queued. */
  submit(job: DemoJob): Promise<void>;
  signal(signal: Signal): Promise<void>;
  progress(): Promise<Progress>;
  /** Jobs that will still move by themselves. */
  open(): Promise<number>;
  /** Jobs in the hands of a worker. */
  heldBy(worker: string): Promise<number>;
  /** A person looks at what only a person can resolve. */
  operate(): Promise<void>;
  /** Why each account was out; empty for a design that does not know. */
  outages(): Promise<Map<string, Outage[]>>;
  deadLetters(): Promise<{ wallet: string; job: string; attempt: number }[]>;
  books(): Promise<Books>;
}
