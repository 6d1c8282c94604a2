// The transitions of money and work as pure functions: what the statements must do, without a database.
import { refundDue, retryDelayMs, settleAmount } from '../src/jobs/rules.ts';
import type { TransitionName, Verdict } from '../src/outcomes.ts';
import { adjust, change, configure, grant, open } from './wallets.ts';
import type { At, EndedAs, Job, Line, Step, Submission, World } from './world.ts';
import { jobOf, keyOf, newJob, outcome, queueOf, refuse, wasCharged, write, wrote } from './world.ts';

type OfAttempt = At & { readonly attempt: number };

const absent = (world: World, at: At): Step => refuse(world, wasCharged(world, at) ? 'pruned' : 'no_job');

/** What every transition but succeed and settle answers for a job that ended for good. */
function ended(world: World, job: Job): Step | undefined {
  if (job.canceled) return outcome(world, 'canceled');
  return job.succeeded ? outcome(world, 'succeeded') : undefined;
}

/** The answers that come before every other one of a signal, then the transition's own. */
function onJob(world: World, at: At, then: (job: Job) => Step): Step {
  const job = jobOf(world, at);
  return job ? (ended(world, job) ?? then(job)) : absent(world, at);
}

/** A failure that is not heard: said already, or of an attempt that is not the job's any more (a newer one, or released). */
const lost = (world: World, job: Job, attempt: number): Step => {
  const released = job.state === 'queued' && job.failedAttempt !== attempt;
  return outcome(world, attempt === job.attempt && !released ? 'duplicate' : 'stale');
};

const underWay = (job: Job): boolean => job.state === 'running' || job.state === 'waiting';

/** What leaving a state clears: each of these instants belongs to one state. */
const CLEARED = { notBefore: null, leaseUntil: null, deadlineAt: null, dead: false } as const;

function submit(world: World, input: Submission): Step {
  const wallet = world.wallets[input.wallet];
  if (!wallet) return refuse(world, 'no_wallet');
  const known = jobOf(world, input);
  if (!known && wasCharged(world, input)) return refuse(world, 'pruned');
  if (known) {
    const wanted = { price: input.price, queue: input.queue, payload: input.payload ?? '' };
    const differs = (['price', 'queue', 'payload'] as const).filter((field) => known[field] !== wanted[field]);
    return differs.length === 0 ? outcome(world, 'duplicate') : { world, answer: { refusal: 'conflict', differs } };
  }
  if (wallet.status === 'closed') return refuse(world, 'wallet_closed');
  if (wallet.balance - input.price < -wallet.overdraftLimit) return refuse(world, 'insufficient_credits');
  const charge: Line = { type: 'charge', amount: 0 - input.price };
  return wrote(world, write(world, newJob(world, input), [charge]), 'charged');
}

/**
 * Which of the ready jobs a claim gets is open (locked rows are passed over), so the caller names it here. A request id
 * that was used gives the same attempt again while it runs, and never another one.
 */
function lease(world: World, input: At & { readonly request?: string }): Step {
  const { request } = input;
  const given = request === undefined ? undefined : world.requests[request];
  const job = jobOf(world, input);
  if (given !== undefined) {
    const runs = job?.state === 'running' && job.attempt === given;
    return { world, answer: { outcome: 'leased', attempt: runs ? given : null } };
  }
  const settings = job?.queue == null ? undefined : queueOf(world, job.queue);
  const ready = job?.state === 'queued' && job.notBefore !== null && job.notBefore <= world.clock;
  if (!job || !settings || !ready || settings.paused) return { world, answer: { outcome: 'leased', attempt: null } };
  const attempt = job.attempt + 1;
  const leaseUntil = world.clock + settings.leaseMs;
  const after = write(world, { ...job, ...CLEARED, state: 'running', attempt, leaseUntil }) ?? world;
  const requests = request === undefined ? world.requests : { ...world.requests, [request]: attempt };
  return { world: { ...after, requests }, answer: { outcome: 'leased', attempt } };
}

function extend(world: World, input: OfAttempt): Step {
  return onJob(world, input, (job) => {
    if (job.state !== 'running' || job.attempt !== input.attempt) return outcome(world, 'stale');
    const leaseUntil = Math.max(job.leaseUntil ?? 0, world.clock + queueOf(world, job.queue).leaseMs);
    return wrote(world, write(world, { ...job, leaseUntil }), 'extended');
  });
}

function handOver(world: World, input: OfAttempt & { readonly deadlineMs: number }): Step {
  return onJob(world, input, (job) => {
    if (job.attempt !== input.attempt) return outcome(world, 'stale');
    if (job.state !== 'running') return outcome(world, job.state === 'waiting' ? 'duplicate' : 'stale');
    const deadlineAt = world.clock + input.deadlineMs;
    return wrote(world, write(world, { ...job, ...CLEARED, state: 'waiting', deadlineAt }), 'handed_over');
  });
}

function release(world: World, input: OfAttempt): Step {
  return onJob(world, input, (job) => {
    if (job.attempt !== input.attempt) return outcome(world, 'stale');
    if (job.state === 'queued' && job.failedAttempt !== input.attempt) return outcome(world, 'duplicate');
    if (job.state !== 'running' || job.queue === null) return outcome(world, 'stale');
    if (job.releases >= queueOf(world, job.queue).maxReleases) return refuse(world, 'release_limit');
    const next: Job = { ...job, ...CLEARED, state: 'queued', releases: job.releases + 1, notBefore: world.clock };
    return wrote(
      world,
      write(world, next, [], [{ attempt: job.attempt, endedAs: 'released', verdict: null }]),
      'released',
    );
  });
}

interface Failure {
  readonly attempt: number;
  readonly verdict: Verdict;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly endedAs: EndedAs;
}

/** When a job that failed may run again: the back-off if the failure counts, and what the upstream asked for, capped. */
function notBefore(world: World, job: Job, failures: number, failure: Failure): number {
  const settings = queueOf(world, job.queue);
  const asked = Math.min(failure.retryAfterMs ?? 0, settings.retryAfterMaxMs);
  if (job.failedAttempt === failure.attempt) {
    const old = job.notBefore ?? 0;
    return failure.retryAfterMs === undefined ? old : Math.max(old, world.clock + asked);
  }
  const backoff = { baseMs: settings.backoffBaseMs, maxMs: settings.backoffMaxMs };
  const run = { walletId: job.wallet, jobId: job.id, attempt: failure.attempt };
  return Math.max(job.notBefore ?? -Infinity, world.clock + Math.max(retryDelayMs(backoff, failures, run), asked));
}

/** The one effect of fail and lapse. */
function applyFailure(world: World, job: Job, failure: Failure): Step {
  const { attempt, verdict, endedAs } = failure;
  const counts = job.failedAttempt !== attempt;
  const failures = job.failures + (counts ? 1 : 0);
  const kills = job.queue === null || !failure.retryable || failures >= job.maxFailures;
  const state = job.queue === null ? 'failed' : kills ? 'dead' : 'queued';
  const refund = refundDue(job, kills);
  const next: Job = {
    ...job,
    ...CLEARED,
    ...{ state, failures, failedAttempt: attempt, verdict, dead: state === 'dead', refunded: job.refunded || refund },
    notBefore: state === 'queued' ? notBefore(world, job, failures, failure) : null,
  };
  const lines: Line[] = refund ? [{ type: 'refund', amount: job.price }] : [];
  const row = { attempt, endedAs: counts ? endedAs : failure.retryable ? 'confirmed' : 'rejected', verdict } as const;
  const name = state === 'failed' ? 'refunded' : state === 'dead' ? 'dead' : 'retrying';
  return wrote(world, write(world, next, lines, [row]), name);
}

export type Report = At & {
  readonly attempt?: number;
  readonly verdict: Verdict;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
};

function fail(world: World, input: Report): Step {
  return onJob(world, input, (job) => {
    const attempt = job.queue === null ? job.attempt : input.attempt;
    if (attempt === undefined) return refuse(world, 'attempt_required');
    const said = job.failedAttempt === attempt && job.verdict === 'definitive';
    const known = said && (input.retryable || job.failures === 0);
    const late = job.state === 'queued' && input.verdict === 'definitive' && !known;
    if (attempt !== job.attempt || !(underWay(job) || late)) return lost(world, job, attempt);
    return applyFailure(world, job, { ...input, attempt, endedAs: 'failed' });
  });
}

/** The sweep names the attempt it saw, so that it never ends a later one. */
function lapse(world: World, input: OfAttempt): Step {
  return onJob(world, input, (job) => {
    const until = job.leaseUntil ?? job.deadlineAt;
    const due = underWay(job) && until !== null && until <= world.clock;
    if (job.attempt !== input.attempt || !due) return lost(world, job, input.attempt);
    return applyFailure(world, job, { attempt: job.attempt, verdict: 'presumed', retryable: true, endedAs: 'lapsed' });
  });
}

function succeed(world: World, input: At & { readonly attempt?: number; readonly finalPrice?: number }): Step {
  const job = jobOf(world, input);
  if (!job) return absent(world, input);
  if (job.canceled) return refuse(world, 'canceled');
  if (job.succeeded) return outcome(world, 'duplicate');
  const attempt = input.attempt ?? job.attempt;
  const { finalPrice = null } = input;
  const settled = finalPrice !== null;
  const next: Job = {
    ...job,
    ...CLEARED,
    ...{ state: 'succeeded', succeeded: true, succeededAttempt: attempt, reclaimed: job.refunded, settled, finalPrice },
  };
  const lines: Line[] = [];
  if (job.refunded) lines.push({ type: 'reclaim', amount: 0 - job.price });
  if (finalPrice !== null) lines.push({ type: 'settle', amount: settleAmount(false, job.price, finalPrice) });
  const rows: { attempt: number; endedAs: EndedAs; verdict: null }[] = [
    { attempt, endedAs: 'succeeded', verdict: null },
  ];
  if (underWay(job) && job.attempt !== attempt)
    rows.push({ attempt: job.attempt, endedAs: 'superseded', verdict: null });
  return wrote(world, write(world, next, lines, rows), job.refunded ? 'reclaimed' : 'succeeded');
}

function settle(world: World, input: At & { readonly finalPrice: number }): Step {
  const job = jobOf(world, input);
  if (!job) return absent(world, input);
  if (!job.succeeded && !job.canceled) return refuse(world, 'not_ended');
  const { finalPrice } = input;
  if (job.settled) return job.finalPrice === finalPrice ? outcome(world, 'duplicate') : refuse(world, 'conflict');
  const amount = settleAmount(job.canceled, job.price, finalPrice);
  return wrote(world, write(world, { ...job, settled: true, finalPrice }, [{ type: 'settle', amount }]), 'settled');
}

function cancel(world: World, input: At & { readonly kept?: number }): Step {
  const job = jobOf(world, input);
  if (!job) return absent(world, input);
  if (job.canceled) return outcome(world, 'duplicate');
  if (job.succeeded) return outcome(world, 'succeeded');
  const { kept = null } = input;
  const next: Job = {
    ...job,
    ...CLEARED,
    ...{ state: 'canceled', canceled: true, refunded: true, settled: kept !== null, finalPrice: kept },
  };
  const lines: Line[] = [];
  if (!job.refunded) lines.push({ type: 'refund', amount: job.price });
  if (kept !== null) lines.push({ type: 'settle', amount: settleAmount(true, job.price, kept) });
  const rows = underWay(job) ? [{ attempt: job.attempt, endedAs: 'canceled', verdict: null } as const] : [];
  return wrote(world, write(world, next, lines, rows), 'canceled');
}

/** `attempt`: the one that the person saw, so that a late repeat does not redrive what ran again meanwhile. */
type Seen = At & { readonly attempt?: number };

function redrive(world: World, input: Seen): Step {
  return onJob(world, input, (job) => {
    if ((input.attempt ?? job.attempt) !== job.attempt) return outcome(world, 'stale');
    if (job.state === 'queued') return outcome(world, 'duplicate');
    if (!job.dead) return refuse(world, 'not_dead');
    const next: Job = { ...job, ...CLEARED, state: 'queued', failures: 0, releases: 0, notBefore: world.clock };
    return wrote(world, write(world, next), 'redriven');
  });
}

function discard(world: World, input: Seen): Step {
  return onJob(world, input, (job) => {
    if ((input.attempt ?? job.attempt) !== job.attempt) return outcome(world, 'stale');
    if (job.state === 'discarded') return outcome(world, 'duplicate');
    if (job.state !== 'dead') return refuse(world, 'not_dead');
    return wrote(world, write(world, { ...job, state: 'discarded' }), 'discarded');
  });
}

function prune(world: World, input: At): Step {
  const job = jobOf(world, input);
  if (!job || !(job.succeeded || job.canceled)) return { world, answer: { outcome: 'pruned', count: 0 } };
  const { [keyOf(input)]: _gone, ...jobs } = world.jobs;
  const attempts = world.attempts.filter((row) => row.wallet !== input.wallet || row.job !== input.job);
  return { world: { ...world, jobs, attempts }, answer: { outcome: 'pruned', count: 1 } };
}

export const model = {
  'wallet.open': open,
  'wallet.change': change,
  'wallet.grant': grant,
  'wallet.adjust': adjust,
  'queue.configure': configure,
  'job.submit': submit,
  'job.lease': lease,
  'job.extend': extend,
  'job.handOver': handOver,
  'job.fail': fail,
  'job.lapse': lapse,
  'job.succeed': succeed,
  'job.settle': settle,
  'job.cancel': cancel,
  'job.release': release,
  'job.redrive': redrive,
  'job.discard': discard,
  'job.prune': prune,
} as const satisfies Record<TransitionName, (world: World, input: never) => Step>;

/** One call of a transition, as data: what a signal, a sweep or a person asks for. */
export type Action = {
  [T in TransitionName]: { readonly transition: T; readonly input: Parameters<(typeof model)[T]>[1] };
}[TransitionName];

export type Model = { readonly [T in TransitionName]: (world: World, input: Parameters<(typeof model)[T]>[1]) => Step };

/** Applies a call. The cast is sound: an action pairs a name with the input of that name. */
export function apply(world: World, action: Action, by: Model = model): Step {
  return (by[action.transition] as (world: World, input: Action['input']) => Step)(world, action.input);
}
