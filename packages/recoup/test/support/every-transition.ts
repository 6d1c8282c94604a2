// Every transition as one call that can be made again: for tests of answers that are lost and of servers that fail.
import type { Recoup } from '../../src/index.ts';
import { CAPACITY_CASES } from './every-capacity-transition.ts';
import { newId, type Running, type Stage } from './stage.ts';

const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const key = ({ wallet, job }: Running) => ({ wallet, job });

export interface Case {
  /** Makes what the call is about; returns the call. */
  make(s: Stage): Promise<(recoup: Recoup) => Promise<unknown>>;
  first: string;
  again: string;
}

const onRunning = (call: (recoup: Recoup, job: Running) => Promise<unknown>) => async (s: Stage) => {
  const job = await s.running(40);
  return (recoup: Recoup) => call(recoup, job);
};
const onDead = (call: (recoup: Recoup, job: Running) => Promise<unknown>) => async (s: Stage) => {
  const job = await s.running(40);
  await s.recoup.jobs.fail({ ...at(job), retryable: false });
  return (recoup: Recoup) => call(recoup, job);
};

/** Every transition: what the call says when it is heard, and what its repeat says after the first answer was lost. */
export const CASES: Readonly<Record<string, Case>> = {
  'wallet.open': {
    make: async () => {
      const wallet = newId('wallet');
      return ({ wallets }) => wallets.open({ wallet, customer: 'customer' });
    },
    first: 'opened',
    again: 'duplicate',
  },
  'wallet.grant': {
    make: async (s) => {
      const wallet = await s.wallet();
      return ({ wallets }) => wallets.grant({ wallet, key: 'key', amount: 5 });
    },
    first: 'granted',
    again: 'duplicate',
  },
  'wallet.adjust': {
    make: async (s) => {
      const wallet = await s.wallet();
      return ({ wallets }) => wallets.adjust({ wallet, key: 'key', amount: -5 });
    },
    first: 'adjusted',
    again: 'duplicate',
  },
  'job.submit': {
    make: async (s) => {
      const submit = { wallet: await s.wallet(40), job: newId('job'), queue: newId('queue'), price: 40, payload: [1] };
      return ({ jobs }) => jobs.submit(submit);
    },
    first: 'charged',
    again: 'duplicate',
  },
  'job.extend': {
    make: onRunning(({ jobs }, job) => jobs.extend({ ...at(job), leaseMs: 60_000 })),
    first: 'extended',
    again: 'extended',
  },
  'job.handOver': {
    make: onRunning(({ jobs }, job) => jobs.handOver(at(job))),
    first: 'handed_over',
    again: 'duplicate',
  },
  'job.release': { make: onRunning(({ jobs }, job) => jobs.release(at(job))), first: 'released', again: 'duplicate' },
  'job.fail': { make: onRunning(({ jobs }, job) => jobs.fail(at(job))), first: 'retrying', again: 'duplicate' },
  'job.succeed': { make: onRunning(({ jobs }, job) => jobs.succeed(at(job))), first: 'succeeded', again: 'duplicate' },
  'job.cancel': { make: onRunning(({ jobs }, job) => jobs.cancel(key(job))), first: 'canceled', again: 'duplicate' },
  'job.settle': {
    make: async (s) => {
      const job = await s.running(40);
      await s.recoup.jobs.succeed(at(job));
      return ({ jobs }) => jobs.settle({ ...key(job), finalPrice: 30 });
    },
    first: 'settled',
    again: 'duplicate',
  },
  'job.redrive': {
    make: onDead(({ jobs }, job) => jobs.deadLetters.redrive(key(job))),
    first: 'redriven',
    again: 'duplicate',
  },
  'job.discard': {
    make: onDead(({ jobs }, job) => jobs.deadLetters.discard(key(job))),
    first: 'discarded',
    again: 'duplicate',
  },
  ...CAPACITY_CASES,
};
