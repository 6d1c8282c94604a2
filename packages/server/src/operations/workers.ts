// Operations of workers in any language: lease (long poll), extend, hand over, release.
import type { LeasedJob } from 'recoup';
import Type from 'typebox';
import { type Context, type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const ATTEMPT_ERRORS = ['no_job', 'pruned', 'wallet_busy'] as const;
const upstreamRef = s.optional(s.id('The reference that the upstream gave: a callback finds the job by it.'));
const path = (verb: string) => `/v1/wallets/{wallet}/jobs/{job}/${verb}`;

interface LeaseInput {
  queue: string;
  count?: number;
  worker?: string;
  leaseMs?: number;
  requestId?: string;
  waitMs?: number;
}

/** Leases now, or as soon as something is due within `waitMs`. */
async function lease(context: Context, { waitMs = 0, ...input }: LeaseInput): Promise<{ jobs: LeasedJob[] }> {
  const { recoup, signal } = context;
  const end = performance.now() + waitMs;
  for (;;) {
    // Taken before looking: a job that comes in between must not be slept over.
    const wait = waitMs > 0 ? recoup.waiter(input.queue) : undefined;
    const jobs = await recoup.jobs.lease(input);
    if (jobs.length > 0) {
      if (!signal.aborted || input.requestId !== undefined) return { jobs };
      // Nobody hears the answer, and nobody can ask for it again: given back, no failure is counted.
      await Promise.all(jobs.map((job) => giveBack(context, job)));
      return { jobs: [] };
    }
    const left = end - performance.now();
    if (left <= 0 || signal.aborted || !wait) return { jobs: [] };
    await wait(left, signal);
    // Nobody is there to take them, and who asks again with the request id asks anew.
    if (signal.aborted) return { jobs: [] };
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
      'Each is a new attempt, yours until the lease ends. With a `requestId` a lost answer can be asked for again: the same jobs and attempts come back.',
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
          },
          { title: 'LeasedJob' },
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
];
