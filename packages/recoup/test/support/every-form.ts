// The transitions in their other forms: in batches, in a transaction, in a sweep, and what is told by no outcome.
import type { Recoup, Refusal } from '../../src/index.ts';
import type { Case } from './every-transition.ts';
import { named, stateOf, times } from './look.ts';
import { poolOf, soft } from './pools.ts';
import { newId, type Running, type Stage } from './stage.ts';

const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const key = ({ wallet, job }: Running) => ({ wallet, job });

/** What a call answered that has no outcome of its own. */
const said = async (outcome: string, call: Promise<unknown>) => {
  await call;
  return { outcome };
};
/** The answers of a batch as one, where they are all the same. */
const all = async (call: Promise<readonly (object | Refusal)[]>) => ({
  outcome: [...new Set((await call).map(named))].join(', '),
});
/** Lets everything lapse that is under way, and forgets what an hour makes old: then only what is made now is due. */
async function hours(s: Stage): Promise<void> {
  await s.db.advance(7_200_000);
  await s.recoup.sweep();
}
const twice = (s: Stage, make: (s: Stage) => Promise<Running>) => Promise.all(times(2, () => make(s)));
const swept = async (recoup: Recoup) => ({
  outcome: (await recoup.sweep()).failed > 0 ? 'database_error' : 'swept',
});

/** The same transitions in their other forms, what a sweep does, and what is told by no outcome. */
export const OTHERS: Readonly<Record<string, Pick<Case, 'make' | 'first'>>> = {
  'wallet.change': {
    make: async (s) => {
      const wallet = await s.wallet();
      return ({ wallets }) => said('changed', wallets.change(wallet, { overdraftLimit: 7 }));
    },
    first: 'changed',
  },
  'wallet.adjust with a note': {
    make: async (s) => {
      const wallet = await s.wallet();
      return ({ wallets }) => wallets.adjust({ wallet, key: 'key', amount: -5, note: 'was slow' });
    },
    first: 'adjusted',
  },
  'many openings': {
    make: async () => {
      const inputs = times(2, () => ({ wallet: newId('wallet'), customer: 'customer' }));
      return ({ wallets }) => all(wallets.openMany(inputs));
    },
    first: 'opened',
  },
  'many grants': {
    make: async (s) => {
      const wallet = await s.wallet();
      return ({ wallets }) => all(wallets.grantMany(times(2, (i) => ({ wallet, key: `key ${i}`, amount: 5 }))));
    },
    first: 'granted',
  },
  'many adjusts': {
    make: async (s) => {
      const wallet = await s.wallet();
      return ({ wallets }) =>
        all(wallets.adjustMany(times(2, (i) => ({ wallet, key: `key ${i}`, amount: 5, note: 'n' }))));
    },
    first: 'adjusted',
  },
  'many submits': {
    make: async (s) => {
      const wallet = await s.wallet(2);
      const inputs = times(2, (i) => ({ wallet, job: `job ${i}`, queue: null, price: 1 }));
      return ({ jobs }) => all(jobs.submitMany(inputs));
    },
    first: 'charged',
  },
  'many failures': {
    make: async (s) => {
      const running = await twice(s, (one) => one.running(40));
      return ({ jobs }) => all(jobs.failMany(running.map((job) => ({ ...at(job), reason: 'failed' }))));
    },
    first: 'retrying',
  },
  'many successes': {
    make: async (s) => {
      const running = await twice(s, (one) => one.running(40));
      return ({ jobs }) => all(jobs.succeedMany(running.map((job) => ({ ...at(job), finalPrice: 30 }))));
    },
    first: 'succeeded',
  },
  'a late success with a final price': {
    make: async (s) => {
      const job = await s.running(40);
      await s.recoup.jobs.fail(at(job));
      return ({ jobs }) => jobs.succeed({ ...at(job), finalPrice: 30 });
    },
    first: 'reclaimed',
  },
  'a cancel that keeps a part': {
    make: async (s) => {
      const job = await s.running(40);
      return ({ jobs }) => jobs.cancel({ ...key(job), keep: 12 });
    },
    first: 'canceled',
  },
  'a redrive of a filter': {
    make: async (s) => {
      const job = await s.running(40);
      await s.recoup.jobs.fail({ ...at(job), retryable: false });
      const filter = { wallet: job.wallet };
      return async ({ jobs }) => {
        if (!(await jobs.deadLetters.preview(filter)).count) return { outcome: 'none' };
        await jobs.deadLetters.redriveAll(filter, { confirm: 1 });
        return { outcome: (await stateOf(s, job)).state === 'queued' ? 'redriven' : 'database_error' };
      };
    },
    first: 'redriven',
  },
  'job.lease': {
    make: async (s) => {
      const { queue } = await s.queued(40);
      return ({ jobs }) => said('leased', jobs.lease({ queue, requestId: newId('request') }));
    },
    first: 'leased',
  },
  'job.lapse of a lease': {
    make: async (s) => {
      await hours(s);
      await s.running(40);
      await s.db.advance(7_200_000);
      return swept;
    },
    first: 'swept',
  },
  'job.lapse of a deadline': {
    make: async (s) => {
      await hours(s);
      await s.external(40, { deadlineMs: 1000 });
      await s.db.advance(7_200_000);
      return swept;
    },
    first: 'swept',
  },
  'forgotten lease requests': {
    make: async (s) => {
      await hours(s);
      const job = await s.queued(40);
      await s.recoup.jobs.lease({ queue: job.queue, requestId: newId('request') });
      await s.recoup.jobs.cancel({ wallet: job.wallet, job: job.job });
      await s.db.advance(7_200_000);
      return swept;
    },
    first: 'swept',
  },
  'job.prune': {
    make: async (s) => {
      const job = await s.running(40);
      await s.recoup.jobs.succeed(at(job));
      // Long ago is before now, also where the clock stands.
      await s.db.advance(1);
      return ({ jobs }) => said('pruned', jobs.prune({ olderThanMs: 0 }));
    },
    first: 'pruned',
  },
  'queue.configure': {
    make: async () => {
      const queue = newId('queue');
      return ({ queues }) => said('configured', queues.configure(queue, { maxFailures: 7 }));
    },
    first: 'configured',
  },
  'upstream.change': {
    make: async (s) => {
      const [upstream] = (await poolOf(s, 1)).names as [string];
      return ({ upstreams }) => upstreams.change(upstream, { weight: 7, actor: 'ann', reason: 'larger plan' });
    },
    first: 'changed',
  },
  'a success that closes a block, and one that speaks against a manual one': {
    make: async (s) => {
      const [upstream] = (await poolOf(s, 1)).names as [string];
      await s.recoup.upstreams.report({ upstream, success: false, elapsedMs: 60_000, block: soft });
      const block = { kind: 'billing', policy: 'manual' } as const;
      await s.recoup.upstreams.report({ upstream, success: false, elapsedMs: 60_000, block });
      await s.db.advance(1000);
      return ({ upstreams }) => upstreams.report({ upstream, success: true });
    },
    first: 'noted',
  },
  'forgotten sticky keys': {
    make: async (s) => {
      await hours(s);
      const { pool } = await poolOf(s, 1);
      const { lease } = await s.recoup.upstreams.select({ pool, sticky: 'a', stickyMs: 1000 });
      await s.recoup.upstreams.release(lease!);
      await s.db.advance(2000);
      return swept;
    },
    first: 'swept',
  },
  'a block that nobody tried': {
    make: async (s) => {
      await hours(s);
      const [upstream] = (await poolOf(s, 1)).names as [string];
      await s.recoup.upstreams.report({ upstream, success: false, block: soft });
      await s.db.advance(90_000_000);
      return swept;
    },
    first: 'swept',
  },
  'a transaction': {
    make: async (s) => {
      const [wallet, job] = [await s.wallet(40), newId('job')];
      return (recoup) =>
        recoup.transaction(async ({ jobs, wallets }) => {
          await jobs.submit({ wallet, job, queue: null, price: 40 });
          await jobs.fail({ wallet, job });
          await wallets.adjust({ wallet, key: 'key', amount: 3, note: 'sorry' });
          return jobs.succeed({ wallet, job, finalPrice: 5 });
        });
    },
    first: 'reclaimed',
  },
};
