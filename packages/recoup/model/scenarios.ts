// The bounded worlds of the walk: few jobs with small numbers, and every signal that may arrive for them.
import type { TransitionName } from '../src/outcomes.ts';
import { type Action, apply } from './model.ts';
import type { Move, Scenario } from './walk.ts';
import { type At, DEFAULT_QUEUE, emptyWorld, type Queue, type Wallet, type World } from './world.ts';

const queue = (settings: Partial<Queue>): Queue => ({ ...DEFAULT_QUEUE, maxFailures: 2, ...settings });
const wallet = (overdraftLimit = 0): Wallet => ({
  ...{ customer: 'customer', status: 'active', balance: 0, lastSeq: 0 },
  overdraftLimit,
});

interface Signals {
  readonly price: number;
  readonly queue: string | null;
  readonly attempts: readonly number[];
  readonly finalPrices: readonly number[];
  /** The caller's own queue may set a deadline; others are delayed at first. */
  readonly deadlineMs?: number;
  readonly delayMs?: number;
  /** Only a few of the signals that differ in nothing the money depends on: for the product of several jobs. */
  readonly sparse?: boolean;
  /** Transitions that are left out, to keep the product of several jobs small. */
  readonly without?: readonly TransitionName[];
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Every signal of one job: each attempt's number, each verdict, each price, as if any of them could arrive at any time. */
function signalsOf(at: At, signals: Signals): Move[] {
  const { attempts, finalPrices, deadlineMs, delayMs, sparse = false, without = [] } = signals;
  const unnamed = [undefined, ...attempts];
  const submission = {
    ...{ ...at, queue: signals.queue, price: signals.price },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(delayMs === undefined ? {} : { delayMs }),
  };
  const of = (attempt: number | undefined) => (attempt === undefined ? at : { ...at, attempt });
  const failures = unnamed.flatMap((attempt): Action[] => [
    { transition: 'job.fail', input: { ...of(attempt), verdict: 'presumed', retryable: true } },
    { transition: 'job.fail', input: { ...of(attempt), verdict: 'presumed', retryable: false } },
    { transition: 'job.fail', input: { ...of(attempt), verdict: 'definitive', retryable: true } },
    { transition: 'job.fail', input: { ...of(attempt), verdict: 'definitive', retryable: false } },
  ]);
  const told = attempts.map((attempt): Action => {
    const input = { ...at, attempt, verdict: 'definitive', retryable: true, retryAfterMs: 60_000 } as const;
    return { transition: 'job.fail', input };
  });
  const successes = (sparse ? [1] : unnamed).map((n): Action => ({ transition: 'job.succeed', input: of(n) }));
  const priced = (sparse ? [undefined] : [undefined, 1]).flatMap((attempt) =>
    finalPrices.map((finalPrice): Action => ({ transition: 'job.succeed', input: { ...of(attempt), finalPrice } })),
  );
  const fenced = attempts.flatMap((attempt): Action[] => [
    { transition: 'job.lapse', input: { ...at, attempt } },
    { transition: 'job.extend', input: { ...at, attempt } },
    { transition: 'job.handOver', input: { ...at, attempt, deadlineMs: 60_000 } },
    { transition: 'job.release', input: { ...at, attempt } },
    { transition: 'job.redrive', input: { ...at, attempt } },
    { transition: 'job.discard', input: { ...at, attempt } },
    { transition: 'job.lease', input: { ...at, request: `${at.wallet}/${at.job}/${attempt}` } },
  ]);
  const others: Move[] = [
    { transition: 'job.submit', input: submission },
    { transition: 'job.submit', input: { ...submission, price: signals.price + 1 } },
    { transition: 'job.lease', input: at },
    ...finalPrices.map((finalPrice): Action => ({ transition: 'job.settle', input: { ...at, finalPrice } })),
    { transition: 'job.cancel', input: at },
    ...finalPrices.slice(0, 1).map((kept): Action => ({ transition: 'job.cancel', input: { ...at, kept } })),
    { transition: 'job.redrive', input: at },
    { transition: 'job.discard', input: at },
    { transition: 'job.prune', input: at },
    { transition: 'time.pass', input: at },
  ];
  const moves = [...others, ...failures, ...(sparse ? [] : told), ...successes, ...priced, ...fenced];
  return moves.filter(({ transition }) => !without.some((left) => left === transition));
}

const credits = (id: string, key: string, amount: number): Action => ({
  transition: 'wallet.grant',
  input: { wallet: id, key, amount },
});

const after = (world: World, ...actions: readonly Action[]): World =>
  actions.reduce((now, action) => apply(now, action).world, world);

/**
 * Three jobs over two wallets. `a` and `b` share a wallet that can pay one of them, so that a refund pays for the other
 * and a late success makes a debt; `b` has no queue. `c` gets its price back only at its end.
 */
export function threeJobs(maxAttempt: number): Scenario {
  const [a, b, c] = [
    { wallet: 'u', job: 'a' },
    { wallet: 'u', job: 'b' },
    { wallet: 'v', job: 'c' },
  ];
  const attempts = upTo(maxAttempt + 1);
  const world = emptyWorld({
    queues: { early: queue({}), late: queue({ refundOn: 'final' }) },
    wallets: { u: wallet(), v: wallet() },
  });
  return {
    name: `three jobs over two wallets, ${maxAttempt} attempts`,
    start: after(world, credits('u', 'first', 50), credits('v', 'first', 20)),
    jobs: [a, b, c],
    moves: [
      credits('u', 'second', 30),
      ...signalsOf(a, {
        ...{ price: 40, queue: 'early', attempts, finalPrices: [25] },
        sparse: true,
        without: ['job.handOver', 'job.release', 'job.extend'],
      }),
      ...signalsOf(b, {
        ...{ price: 30, queue: null, attempts: [1, 2], finalPrices: [45], deadlineMs: 60_000 },
        sparse: true,
        without: ['job.handOver', 'job.release', 'job.redrive', 'job.discard', 'job.extend', 'job.prune'],
      }),
      ...signalsOf(c, {
        ...{ price: 20, queue: 'late', attempts, finalPrices: [] },
        sparse: true,
        without: ['job.handOver', 'job.release', 'job.prune', 'job.extend', 'job.discard'],
      }),
    ],
    maxAttempt,
    exact: false,
  };
}

/** One job, exactly: many runs, released, lapsed, failed, redriven, with every later signal of each. */
export function oneJob(refundOn: 'failure' | 'final', maxAttempt: number): Scenario {
  const a = { wallet: 'u', job: 'a' };
  return {
    name: `one job, refund on ${refundOn}, ${maxAttempt} attempts`,
    start: emptyWorld({ queues: { q: queue({ refundOn, maxReleases: 2 }) }, wallets: { u: wallet() } }),
    jobs: [a],
    moves: [
      credits('u', 'first', 40),
      credits('u', 'first', 41),
      ...signalsOf(a, {
        price: 40,
        queue: 'q',
        attempts: upTo(maxAttempt + 1),
        finalPrices: [0, 25, 55],
        delayMs: 1_000,
      }),
    ],
    maxAttempt,
    exact: true,
  };
}

/** A wallet opened, changed, closed, overdrawn, adjusted, and at the limit of its balance; and none at all. */
export function walletRims(): Scenario {
  const [a, b] = [
    { wallet: 'u', job: 'a' },
    { wallet: 'u', job: 'b' },
  ];
  return {
    name: 'a wallet closed, overdrawn, adjusted, at its limit',
    start: emptyWorld({ balanceLimit: 60 }),
    jobs: [a, b],
    moves: [
      { transition: 'wallet.open', input: { wallet: 'u', customer: 'customer', overdraftLimit: 40 } },
      { transition: 'wallet.open', input: { wallet: 'u', customer: 'another', overdraftLimit: 40 } },
      { transition: 'wallet.change', input: { wallet: 'u', status: 'closed' } },
      { transition: 'wallet.change', input: { wallet: 'u', status: 'active', overdraftLimit: 0 } },
      { transition: 'wallet.change', input: { wallet: 'nowhere', status: 'closed' } },
      credits('u', 'first', 55),
      credits('u', 'first', 56),
      credits('nowhere', 'first', 1),
      { transition: 'wallet.adjust', input: { wallet: 'u', key: 'second', amount: -30, job: 'a' } },
      { transition: 'wallet.adjust', input: { wallet: 'u', key: 'second', amount: -31 } },
      { transition: 'wallet.adjust', input: { wallet: 'u', key: 'first', amount: 55 } },
      { transition: 'wallet.adjust', input: { wallet: 'nowhere', key: 'first', amount: 1 } },
      { transition: 'job.submit', input: { wallet: 'nowhere', job: 'a', queue: null, price: 1 } },
      ...signalsOf(a, {
        price: 40,
        queue: null,
        attempts: [1, 2],
        finalPrices: [0, 95],
        deadlineMs: 60_000,
        sparse: true,
      }),
      ...signalsOf(b, { price: 0, queue: null, attempts: [1], finalPrices: [0], sparse: true }),
    ],
    maxAttempt: 1,
    exact: false,
  };
}

/** A queue paused, without a second try and without a release; its jobs with a price, without one, and at the limit. */
export function queueRims(): Scenario {
  const [a, b] = [
    { wallet: 'u', job: 'a' },
    { wallet: 'u', job: 'b' },
  ];
  const world = emptyWorld({
    balanceLimit: 60,
    queues: { q: queue({ maxFailures: 1, maxReleases: 0 }) },
    wallets: { u: wallet() },
  });
  return {
    name: 'a queue paused, of one try; a job of no price',
    start: after(world, credits('u', 'first', 45)),
    jobs: [a, b],
    moves: [
      { transition: 'queue.configure', input: { queue: 'q', settings: { paused: true } } },
      { transition: 'queue.configure', input: { queue: 'q', settings: { paused: false } } },
      { transition: 'queue.configure', input: { queue: 'q', settings: { backoffBaseMs: 1_000_000 } } },
      credits('u', 'second', 40),
      ...signalsOf(a, { price: 40, queue: 'q', attempts: [1, 2], finalPrices: [0], sparse: true }),
      ...signalsOf(b, { price: 0, queue: 'q', attempts: [1, 2], finalPrices: [0], sparse: true }),
    ],
    maxAttempt: 1,
    exact: false,
  };
}
