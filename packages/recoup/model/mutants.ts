// The model with one hole at a time, each like a statement could have: the walk must find every one of them.
import { type Model, model } from './model.ts';
import { type At, book, type Job, jobOf, keyOf, newJob, type Step, type World, write } from './world.ts';

/** Writes a step once more, or differently: what a statement with a hole would do. */
const put = (step: Step, change: (job: Job) => Partial<Job>, at: At): Step => {
  const job = jobOf(step.world, at);
  return job ? { ...step, world: write(step.world, { ...job, ...change(job) }) ?? step.world } : step;
};
const bookAgain = (step: Step, type: 'refund' | 'reclaim' | 'settle' | 'charge', at: At) => {
  const job = jobOf(step.world, at);
  const amount = type === 'refund' ? (job?.price ?? 0) : -(job?.price ?? 0);
  const world = job && book(step.world, at.wallet, [{ type, amount, job: at.job }]);
  return world ? { ...step, world } : step;
};
/** What a refund does that looks at no flag but sets it. */
const refundAgain = (step: Step, at: At): Step =>
  bookAgain(
    put(step, () => ({ refunded: true }), at),
    'refund',
    at,
  );
const says = (step: Step, ...names: string[]) =>
  names.includes('outcome' in step.answer ? step.answer.outcome : step.answer.refusal);
const later = (world: World): World => ({ ...world, clock: world.clock + 1e9 });
/** Runs in a changed world, and gives the change back if nothing came of it. */
const within = (world: World, changed: World, run: (world: World) => Step, restore: Partial<World>): Step => {
  const step = run(changed);
  return step.world === changed ? { ...step, world } : { ...step, world: { ...step.world, ...restore } };
};

const {
  'job.fail': fail,
  'job.lapse': lapse,
  'job.succeed': succeed,
  'job.settle': settle,
  'job.cancel': cancel,
} = model;
const { 'job.submit': submit, 'job.lease': lease, 'job.release': release, 'job.redrive': redrive } = model;
const { 'job.prune': prune, 'job.extend': extend, 'job.handOver': handOver, 'wallet.grant': grant } = model;
const { 'job.discard': discard } = model;

export const mutants: Record<string, Partial<Model>> = {
  'a second failure refunds again': {
    'job.fail': (world, input) => {
      const step = fail(world, input);
      return says(step, 'duplicate') ? refundAgain(step, input) : step;
    },
  },
  'a failure after the success refunds': {
    'job.fail': (world, input) => {
      const step = fail(world, input);
      return says(step, 'succeeded') ? refundAgain(step, input) : step;
    },
  },
  'a failure after the success brings the job back': {
    'job.fail': (world, input) => {
      const job = jobOf(world, input);
      if (!job?.succeeded || job.refunded || job.attempt === 0 || input.attempt !== job.attempt)
        return fail(world, input);
      const open: Job = { ...job, state: 'running', leaseUntil: 1, succeeded: false, succeededAttempt: null };
      return fail(write(world, { ...open, settled: false, finalPrice: null }) ?? world, input);
    },
  },
  'a failure does not look at the attempt': {
    'job.fail': (world, input) =>
      fail(
        world,
        input.attempt === undefined ? input : { ...input, attempt: jobOf(world, input)?.attempt || input.attempt },
      ),
  },
  'a failure does not refund': {
    'job.fail': (world, input) => {
      const step = fail(world, input);
      return says(step, 'retrying') && !jobOf(world, input)?.refunded
        ? {
            ...step,
            world: {
              ...put(step, () => ({ refunded: false }), input).world,
              entries: world.entries,
              wallets: world.wallets,
            },
          }
        : step;
    },
  },
  'a definitive report after a presumed one is dropped': {
    'job.fail': (world, input) =>
      jobOf(world, input)?.state === 'queued' && jobOf(world, input)?.attempt === input.attempt
        ? { world, answer: { outcome: 'duplicate' } }
        : fail(world, input),
  },
  'a definitive report after a presumed one counts twice': {
    'job.fail': (world, input) => {
      const late = jobOf(world, input)?.failedAttempt === input.attempt;
      const step = fail(world, input);
      return late && says(step, 'retrying') ? put(step, (job) => ({ failures: job.failures + 1 }), input) : step;
    },
  },
  'a failed job runs again at once': {
    'job.fail': (world, input) => {
      const step = fail(world, input);
      return says(step, 'retrying') ? put(step, () => ({ notBefore: world.clock }), input) : step;
    },
  },
  'a lapse does not look at the clock': {
    'job.lapse': (world, input) => within(world, later(world), (now) => lapse(now, input), { clock: world.clock }),
  },
  'a lapse keeps the lease': {
    'job.lapse': (world, input) => {
      const step = lapse(world, input);
      return says(step, 'retrying') ? put(step, () => ({ leaseUntil: world.clock }), input) : step;
    },
  },
  'a second success reclaims again': {
    'job.succeed': (world, input) => {
      const step = succeed(world, input);
      return says(step, 'duplicate') && jobOf(world, input)?.refunded ? bookAgain(step, 'reclaim', input) : step;
    },
  },
  'a success does not reclaim': {
    'job.succeed': (world, input) => {
      const step = succeed(world, input);
      return says(step, 'reclaimed')
        ? { ...step, world: { ...step.world, entries: world.entries, wallets: world.wallets } }
        : step;
    },
  },
  'a success of an older attempt is stale': {
    'job.succeed': (world, input) => {
      const job = jobOf(world, input);
      const old = job && !job.succeeded && !job.canceled && (input.attempt ?? job.attempt) < job.attempt;
      return old ? { world, answer: { outcome: 'duplicate' } } : succeed(world, input);
    },
  },
  'a success after a discard is dropped': {
    'job.succeed': (world, input) =>
      jobOf(world, input)?.state === 'discarded' ? { world, answer: { refusal: 'canceled' } } : succeed(world, input),
  },
  'a success after a cancel counts': {
    'job.succeed': (world, input) => {
      const job = jobOf(world, input);
      if (!job?.canceled || job.settled) return succeed(world, input);
      const open: Job = {
        ...job,
        canceled: false,
        state: job.queue === null ? 'failed' : 'dead',
        dead: job.queue !== null,
      };
      return succeed(write(world, open) ?? world, input);
    },
  },
  'a success leaves the other attempt open': {
    'job.succeed': (world, input) => {
      const step = succeed(world, input);
      if (step.world === world) return step;
      return {
        ...step,
        world: { ...step.world, attempts: step.world.attempts.filter((row) => row.endedAs !== 'superseded') },
      };
    },
  },
  'a second settle books again': {
    'job.settle': (world, input) => {
      const step = settle(world, input);
      return says(step, 'duplicate') ? bookAgain(step, 'settle', input) : step;
    },
  },
  'a settle of a canceled job gives the price back once more': {
    'job.settle': (world, input) => {
      const step = settle(world, input);
      return says(step, 'settled') && jobOf(world, input)?.canceled ? bookAgain(step, 'refund', input) : step;
    },
  },
  'a cancel refunds what is refunded': {
    'job.cancel': (world, input) => {
      const step = cancel(world, input);
      return says(step, 'canceled') && jobOf(world, input)?.refunded ? bookAgain(step, 'refund', input) : step;
    },
  },
  'a cancel ends a job that succeeded': {
    'job.cancel': (world, input) =>
      jobOf(world, input)?.succeeded
        ? put({ world, answer: { outcome: 'canceled' } }, () => ({ state: 'canceled', canceled: true }), input)
        : cancel(world, input),
  },
  'a cancel drops the price that comes second': {
    'job.settle': (world) => ({ world, answer: { refusal: 'not_ended' } }),
  },
  'a submit does not look at the balance': {
    'job.submit': (world, input) => {
      const step = submit(world, input);
      if (!says(step, 'insufficient_credits')) return step;
      const charge = { type: 'charge', amount: -input.price } as const;
      return { world: write(world, newJob(world, input), [charge]) ?? world, answer: { outcome: 'charged' } };
    },
  },
  'a submit reuses the id of a pruned job': {
    'job.submit': (world, input) => {
      const step = submit(world, input);
      if (!says(step, 'pruned')) return step;
      const charge = { type: 'charge', amount: -input.price } as const;
      return { world: write(world, newJob(world, input), [charge]) ?? world, answer: { outcome: 'charged' } };
    },
  },
  'a submit charges again': {
    'job.submit': (world, input) => {
      const step = submit(world, input);
      return says(step, 'duplicate') ? bookAgain(step, 'charge', input) : step;
    },
  },
  'a grant books again': {
    'wallet.grant': (world, input) => {
      const step = grant(world, input);
      const again =
        says(step, 'duplicate') && book(world, input.wallet, [{ type: 'grant', amount: input.amount, key: input.key }]);
      return again ? { ...step, world: again } : step;
    },
  },
  'a lease does not wait for its time': {
    'job.lease': (world, input) => within(world, later(world), (now) => lease(now, input), { clock: world.clock }),
  },
  'a lease does not look whether the queue is paused': {
    'job.lease': (world, input) => {
      const queues = Object.fromEntries(
        Object.entries(world.queues).map(([id, queue]) => [id, { ...queue, paused: false }]),
      );
      return within(world, { ...world, queues }, (now) => lease(now, input), { queues: world.queues });
    },
  },
  'a lease uses an attempt number again': {
    'job.lease': (world, input) => {
      const step = lease(world, input);
      return (jobOf(world, input)?.attempt ?? 0) > 0 && step.world !== world
        ? put(step, (job) => ({ attempt: job.attempt - 1 }), input)
        : step;
    },
  },
  'a lease forgets its request': {
    'job.lease': (world, input) => lease(world, { wallet: input.wallet, job: input.job }),
  },
  'a release counts as a failure': {
    'job.release': (world, input) => {
      const step = release(world, input);
      return says(step, 'released') ? put(step, (job) => ({ failures: job.failures + 1 }), input) : step;
    },
  },
  'a release is not counted': {
    'job.release': (world, input) => {
      const step = release(world, input);
      return says(step, 'released') ? put(step, (job) => ({ releases: job.releases - 1 }), input) : step;
    },
  },
  'a release does not look at the attempt': {
    'job.release': (world, input) => release(world, { ...input, attempt: jobOf(world, input)?.attempt ?? 0 }),
  },
  'an extension does not look at the attempt': {
    'job.extend': (world, input) => extend(world, { ...input, attempt: jobOf(world, input)?.attempt ?? 0 }),
  },
  'a hand-over has no deadline': {
    'job.handOver': (world, input) => {
      const step = handOver(world, input);
      return says(step, 'handed_over') ? put(step, () => ({ deadlineAt: null }), input) : step;
    },
  },
  'a redrive keeps the counter': {
    'job.redrive': (world, input) => {
      const failures = jobOf(world, input)?.failures ?? 0;
      const step = redrive(world, input);
      return says(step, 'redriven') ? put(step, () => ({ failures }), input) : step;
    },
  },
  'a redrive charges': {
    'job.redrive': (world, input) => {
      const step = redrive(world, input);
      return says(step, 'redriven') ? bookAgain(step, 'charge', input) : step;
    },
  },
  'a redrive of a job that was discarded is refused for ever': {
    'job.discard': (world, input) => {
      const step = discard(world, input);
      return says(step, 'discarded') ? put(step, () => ({ dead: false }), input) : step;
    },
  },
  'a prune takes the entries along': {
    'job.prune': (world, input) => {
      const step = prune(world, input);
      if (step.world === world) return step;
      return { ...step, world: { ...step.world, entries: world.entries.filter((entry) => entry.job !== input.job) } };
    },
  },
  'a prune takes dead letters': {
    'job.prune': (world, input) => {
      const { [keyOf(input)]: job, ...jobs } = world.jobs;
      return job?.dead ? { world: { ...world, jobs }, answer: { outcome: 'pruned', count: 1 } } : prune(world, input);
    },
  },
};
