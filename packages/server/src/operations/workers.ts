// Operations of workers in any language: lease (long poll), extend, hand over, release.
import { type Claimed, type LeasedJob, transitions } from 'recoup';
import Type from 'typebox';
import { answer, answerOf } from './capacity/answers.ts';
import * as c from './capacity/schemas.ts';
import { Reported } from './capacity/uses.ts';
import { type Context, type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const ATTEMPT_ERRORS = ['no_job', 'pruned', 'wallet_busy'] as const;
const upstreamRef = s.optional(s.id('The reference that the upstream gave: a callback finds the job by it.'));
/** What may become of a job by an answer. */
const OUTCOMES = [
  ...new Set([
    ...transitions['job.succeed'].outcomes,
    ...transitions['job.fail'].outcomes,
    ...transitions['job.release'].outcomes,
  ]),
];
const path = (verb: string) => `/v1/wallets/{wallet}/jobs/{job}/${verb}`;

interface LeaseInput {
  queue: string;
  count?: number;
  worker?: string;
  leaseMs?: number;
  requestId?: string;
  waitMs?: number;
  model?: string;
  capability?: string;
}

/** Leases now, or as soon as something is due within `waitMs`. */
async function lease(context: Context, { waitMs = 0, ...input }: LeaseInput): Promise<Claimed> {
  const { recoup, signal } = context;
  const end = performance.now() + waitMs;
  for (;;) {
    // Taken before looking: a job that comes in between must not be slept over.
    const wait = waitMs > 0 ? recoup.waiter(input.queue) : undefined;
    const { jobs, out } = await recoup.jobs.claim(input);
    if (jobs.length > 0) {
      if (!signal.aborted || input.requestId !== undefined) return { jobs, out };
      // Nobody hears the answer, and nobody can ask for it again: given back, no failure is counted.
      await Promise.all(jobs.map((job) => giveBack(context, job)));
      return { jobs: [], out: null };
    }
    const left = end - performance.now();
    if (left <= 0 || signal.aborted || !wait) return { jobs: [], out };
    // Woken by a job, or when the pool is expected back.
    await wait(Math.min(left, out?.retryAfterMs ?? left), signal);
    // Nobody is there to take them, and who asks again with the request id asks anew.
    if (signal.aborted) return { jobs: [], out: null };
  }
}

async function giveBack({ recoup }: Context, { job }: LeasedJob): Promise<void> {
  const key = { wallet: job.wallet, job: job.id, attempt: job.attempt };
  // What cannot be given back lapses.
  await recoup.jobs.release({ ...key, reason: 'the worker was gone before the answer' }).catch(() => {});
}

export const workers: readonly Operation[] = [
  operation({
    name: 'queues.lease',
    summary: 'Take due jobs of a queue; waits up to a minute for the first one',
    description:
      'Each is a new attempt, yours until the lease ends. Where the queue has a pool, each comes with an upstream of it, or not at all: `out` says why, and when to ask again. With a `requestId` a lost answer can be asked for again: the same jobs and attempts come back.',
    scopes: ['worker'],
    method: 'POST',
    path: '/v1/queues/{queue}/leases',
    params: s.fields({ queue: s.queue }),
    query: s.none,
    body: s.fields({
      count: s.optional(s.count('At most this many; 1 unless set.', 1, 500)),
      worker: s.optional(s.id('Who works, for people.')),
      leaseMs: s.optional(s.durationMs('The length of the lease; the queue’s unless set.', 100, 86_400_000)),
      requestId: s.optional(s.id('Makes a lost answer repeatable.')),
      waitMs: s.optional(s.durationMs('How long to wait where nothing is due; 0 unless set.', 0, 60_000)),
      ...c.use,
    }),
    output: s.fields({
      jobs: Type.Array(
        s.fields(
          {
            job: s.Job,
            payload: s.json('As submitted.'),
            earlier: s.orNull(
              Type.Object({
                attempt: s.orNull(Type.Integer()),
                verdict: s.orNull(Type.String()),
                reason: s.orNull(Type.String()),
                upstreamRef: s.orNull(Type.String()),
              }),
            ),
            upstream: s.orNull(
              s.fields(
                {
                  upstream: Type.String(),
                  provider: Type.String(),
                  credentialRef: s.orNull(Type.String({ description: 'Where its credential is kept.' })),
                  lease: Type.String({ description: 'Its slot: kept and given back with the job.' }),
                },
                { title: 'LeasedUpstream', description: 'The upstream to run it on, where the queue has a pool.' },
              ),
            ),
          },
          { title: 'LeasedJob' },
        ),
      ),
      out: s.orNull(
        s.fields(
          {
            pool: Type.String(),
            reason: Type.String({
              description:
                'What keeps out the one that is expected back first: a class, or `quota`, `trial`, `slots` …',
            }),
            retryAfterMs: Type.Integer({ description: 'When to ask again, at most 300,000.' }),
            expectedRecoveryAt: c.expectedRecoveryAt('When the pool is back; null: every upstream needs a person.'),
            estimate: c.estimate,
          },
          { title: 'PoolOut', description: 'Jobs are due and no upstream of the queue’s pool is usable.' },
        ),
      ),
    }),
    waits: true,
    errors: ['wallet_busy'],
    run: lease,
  }),
  operation({
    name: 'jobs.extend',
    summary: 'Keep a lease',
    scopes: ['worker'],
    method: 'POST',
    path: path('extend'),
    params: s.jobKey,
    query: s.none,
    body: s.fields({
      attempt: s.attempt,
      leaseMs: s.optional(s.durationMs('From now; the queue’s unless set.', 100, 86_400_000)),
      upstreamRef,
    }),
    output: s.fields({ outcome: s.outcome('job.extend'), leaseUntil: s.orNull(s.instant()) }),
    errors: ATTEMPT_ERRORS,
    run: ({ recoup }, input) => recoup.jobs.extend(input),
  }),
  operation({
    name: 'jobs.handOver',
    summary: 'The provider works on it: no lease any more, its callback or the deadline ends it',
    scopes: ['worker'],
    method: 'POST',
    path: path('hand-over'),
    params: s.jobKey,
    query: s.none,
    body: s.fields({
      attempt: s.attempt,
      deadlineMs: s.optional(s.durationMs('When it counts as failed unless it is heard of; an hour unless set.', 1)),
      upstreamRef,
    }),
    output: s.fields({ outcome: s.outcome('job.handOver'), deadlineAt: s.orNull(s.instant()) }),
    errors: ATTEMPT_ERRORS,
    run: ({ recoup }, input) => recoup.jobs.handOver(input),
  }),
  operation({
    name: 'jobs.release',
    summary: 'Give an attempt back unfinished: no failure, no refund',
    scopes: ['worker'],
    method: 'POST',
    path: path('release'),
    params: s.jobKey,
    query: s.none,
    body: s.fields({
      attempt: s.attempt,
      delayMs: s.optional(s.durationMs('Not before this delay.')),
      reason: s.optional(s.report('Why, for people.')),
      upstreamRef,
    }),
    output: s.fields({ outcome: s.outcome('job.release'), notBefore: s.orNull(s.instant()) }),
    errors: [...ATTEMPT_ERRORS, 'release_limit'],
    run: ({ recoup }, input) => recoup.jobs.release(input),
  }),
  operation({
    name: 'jobs.report',
    summary:
      'Say what the provider answered to an attempt that was leased with an upstream: for the job and the upstream in one',
    description:
      'A success ends the job with its `result`; an answer about the job fails it for good; any other puts it back at its place, with no failure counted and no refund. The upstream is blocked or freed, its use booked, its slot given back.',
    scopes: ['worker'],
    method: 'POST',
    path: path('report'),
    params: s.jobKey,
    query: s.none,
    body: s.fields({
      attempt: s.attempt,
      answer,
      result: s.optional(s.json('Of a success: JSON, at most 1 MiB.')),
      finalPrice: s.optional(s.amount('Of a success: what the job turned out to be worth.')),
      upstreamRef,
      use: c.used.use,
    }),
    output: s.fields(
      {
        means: s.oneOf(['success', 'failure', 'release'], 'What the answer meant for the job.'),
        outcome: s.oneOf(OUTCOMES),
        notBefore: s.orNull(s.instant('Of a job that is queued again: the earliest instant of its next attempt.')),
        refunded: Type.Boolean({ description: 'Whether this call booked the refund.' }),
        reclaimed: Type.Boolean({ description: 'Of a success: whether a refund was taken back.' }),
        upstream: Reported,
      },
      { title: 'JobReported' },
    ),
    errors: [...ATTEMPT_ERRORS, 'canceled', 'no_upstream', 'balance_limit', 'conflict', 'upstream_busy'],
    run: ({ recoup }, { answer: given, ...input }) => recoup.jobs.report({ ...input, answer: answerOf(given) }),
  }),
];
