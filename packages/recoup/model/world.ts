// The world of the model: wallets, queues, jobs, entries, ended attempts and a clock, and the few ways to write to it.
import type { EntryType, JobState, Verdict } from '../src/outcomes.ts';

export interface Queue {
  readonly refundOn: 'failure' | 'final';
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  readonly retryAfterMaxMs: number;
  readonly maxFailures: number;
  readonly maxReleases: number;
  readonly leaseMs: number;
  readonly paused: boolean;
}

export interface Wallet {
  readonly customer: string;
  readonly status: 'active' | 'closed';
  readonly balance: number;
  readonly overdraftLimit: number;
  readonly lastSeq: number;
}

export interface Entry {
  readonly wallet: string;
  readonly seq: number;
  readonly type: EntryType;
  readonly amount: number;
  readonly balance: number;
  readonly job: string | null;
  readonly key: string | null;
}

/** A row of jobs. Instants of which only "whether" matters are flags; those that are compared with the clock are numbers. */
export interface Job {
  readonly wallet: string;
  readonly id: string;
  readonly queue: string | null;
  readonly state: JobState;
  readonly price: number;
  readonly payload: string;
  readonly refundOn: 'failure' | 'final';
  readonly maxFailures: number;
  readonly attempt: number;
  readonly failures: number;
  readonly releases: number;
  readonly failedAttempt: number | null;
  readonly verdict: Verdict | null;
  readonly notBefore: number | null;
  readonly leaseUntil: number | null;
  readonly deadlineAt: number | null;
  readonly dead: boolean;
  readonly refunded: boolean;
  readonly succeeded: boolean;
  readonly succeededAttempt: number | null;
  readonly reclaimed: boolean;
  readonly settled: boolean;
  readonly finalPrice: number | null;
  readonly canceled: boolean;
}

export type EndedAs =
  | 'failed'
  | 'lapsed'
  | 'confirmed'
  | 'rejected'
  | 'released'
  | 'superseded'
  | 'canceled'
  | 'succeeded';

export interface EndedAttempt {
  readonly wallet: string;
  readonly job: string;
  readonly attempt: number;
  readonly endedAs: EndedAs;
  readonly verdict: Verdict | null;
}

export interface World {
  readonly clock: number;
  /** How far a balance may be from zero; small in a walk that is to meet it. */
  readonly balanceLimit: number;
  readonly queues: Readonly<Record<string, Queue>>;
  readonly wallets: Readonly<Record<string, Wallet>>;
  readonly jobs: Readonly<Record<string, Job>>;
  readonly entries: readonly Entry[];
  readonly attempts: readonly EndedAttempt[];
  /** What each lease request was given: an attempt of the job it asked for. */
  readonly requests: Readonly<Record<string, number>>;
}

/** Which job is meant. */
export interface At {
  readonly wallet: string;
  readonly job: string;
}

export const DEFAULT_QUEUE: Queue = {
  refundOn: 'failure',
  backoffBaseMs: 5_000,
  backoffMaxMs: 300_000,
  retryAfterMaxMs: 3_600_000,
  maxFailures: 5,
  maxReleases: 100,
  leaseMs: 30_000,
  paused: false,
};

export function emptyWorld(settings: Partial<World> = {}): World {
  return {
    clock: 0,
    balanceLimit: Number.MAX_SAFE_INTEGER,
    queues: { '*': DEFAULT_QUEUE },
    wallets: {},
    jobs: {},
    entries: [],
    attempts: [],
    requests: {},
    ...settings,
  };
}

/** The key of a job in the world: the primary key (wallet, id). */
export const keyOf = (at: At): string => `${at.wallet}/${at.job}`;

export const jobOf = (world: World, at: At): Job | undefined => world.jobs[keyOf(at)];

/** Whether the id was ever charged: the entry outlives the job's row. */
export const wasCharged = (world: World, at: At): boolean =>
  world.entries.some((entry) => entry.type === 'charge' && entry.wallet === at.wallet && entry.job === at.job);

/** The settings of a queue, or those of every queue without its own. */
export const queueOf = (world: World, queue: string | null): Queue =>
  world.queues[queue ?? '*'] ?? world.queues['*'] ?? DEFAULT_QUEUE;

export type Submission = At & {
  readonly queue: string | null;
  readonly price: number;
  readonly payload?: string;
  readonly delayMs?: number;
  readonly deadlineMs?: number;
};

/** The job as submit makes it: queued, or waiting for its caller in attempt 1. */
export function newJob(world: World, input: Submission): Job {
  const settings = queueOf(world, input.queue);
  const deadlineAt = input.deadlineMs === undefined ? null : world.clock + input.deadlineMs;
  const start =
    input.queue === null
      ? ({ state: 'waiting', attempt: 1, notBefore: null, deadlineAt } as const)
      : ({ state: 'queued', attempt: 0, notBefore: world.clock + (input.delayMs ?? 0), deadlineAt: null } as const);
  return {
    ...{ wallet: input.wallet, id: input.job, queue: input.queue, price: input.price, payload: input.payload ?? '' },
    ...{ refundOn: settings.refundOn, maxFailures: settings.maxFailures, failures: 0, releases: 0 },
    ...{ failedAttempt: null, verdict: null, leaseUntil: null, dead: false, refunded: false, succeeded: false },
    ...{ succeededAttempt: null, reclaimed: false, settled: false, finalPrice: null, canceled: false },
    ...start,
  };
}

export const advance = (world: World, ms: number): World => ({ ...world, clock: world.clock + ms });

/** An entry to be booked: sequence and running balance come from the wallet. */
export interface Line {
  readonly type: EntryType;
  readonly amount: number;
  readonly job?: string | null;
  readonly key?: string | null;
}

/** Books entries one by one. Undefined if a balance would leave its range: then nothing of it may happen. */
export function book(world: World, walletId: string, lines: readonly Line[]): World | undefined {
  const wallet = world.wallets[walletId];
  if (wallet === undefined) return undefined;
  let { balance, lastSeq } = wallet;
  const entries = [...world.entries];
  for (const { type, amount, job = null, key = null } of lines) {
    balance += amount;
    lastSeq += 1;
    if (Math.abs(balance) > world.balanceLimit) return undefined;
    entries.push({ wallet: walletId, seq: lastSeq, type, amount, balance, job, key });
  }
  return { ...world, entries, wallets: { ...world.wallets, [walletId]: { ...wallet, balance, lastSeq } } };
}

/** Writes a job's row, its entries and its ended attempts in one step, or nothing at all. */
export function write(
  world: World,
  job: Job,
  lines: readonly Line[] = [],
  ended: readonly Pick<EndedAttempt, 'attempt' | 'endedAs' | 'verdict'>[] = [],
): World | undefined {
  const named = lines.map((line) => ({ ...line, job: job.id }));
  const booked = lines.length === 0 ? world : book(world, job.wallet, named);
  if (booked === undefined) return undefined;
  const rows = ended.map((row) => ({ ...row, wallet: job.wallet, job: job.id }));
  return {
    ...booked,
    jobs: { ...booked.jobs, [keyOf({ wallet: job.wallet, job: job.id })]: job },
    attempts: rows.length === 0 ? booked.attempts : [...booked.attempts, ...rows],
  };
}

/** `attempt`: the one leased, or none. `count`: the rows pruned. `differs`: what a conflict is about. */
export type Answer =
  | { readonly outcome: string; readonly attempt?: number | null; readonly count?: number }
  | { readonly refusal: string; readonly differs?: readonly string[] };

export interface Step {
  readonly world: World;
  readonly answer: Answer;
}

export const outcome = (world: World, name: string): Step => ({ world, answer: { outcome: name } });
export const refuse = (world: World, code: string): Step => ({ world, answer: { refusal: code } });

/** The transition's write if every balance stays in range, else a refusal that changed nothing. */
export const wrote = (before: World, after: World | undefined, name: string): Step =>
  after === undefined ? refuse(before, 'balance_limit') : outcome(after, name);
