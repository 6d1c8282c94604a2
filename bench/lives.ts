// The lives of jobs that the bench times, through the library as a user would call it.
import type { Recoup } from '../packages/recoup/src/index.ts';

export interface Shape {
  jobs: number;
  wallets: number;
  queue: string;
}

const IN_FLIGHT = 2000;
const CLAIM = 250;
const CONSUMERS = 4;
/** What a batch call carries: two for submits are on their way at once, as with the peers. */
const BATCH = 1000;
/** The most that a lease takes. */
const LEASE = 500;

export const walletOf = (shape: Shape, index: number) => `wallet-${index % shape.wallets}`;

/** Opens the wallets with credit for everything the bench does. */
export async function openWallets(recoup: Recoup, wallets: number): Promise<void> {
  for (let start = 0; start < wallets; start += 500) {
    const names = Array.from({ length: Math.min(500, wallets - start) }, (_, i) => `wallet-${start + i}`);
    await Promise.all(names.map((wallet) => recoup.wallets.open({ wallet, customer: wallet })));
    await recoup.wallets.grantMany(names.map((wallet) => ({ wallet, key: 'opening', amount: 1_000_000_000 })));
  }
}

/** Submits every job by a call of its own, many calls at once. */
export const submitAll = (recoup: Recoup, shape: Shape): Promise<void> => submitBy(recoup, shape, IN_FLIGHT);

/** The same by so many callers, each of which waits for its own. */
export async function submitBy(recoup: Recoup, shape: Shape, callers: number): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < shape.jobs) await recoup.jobs.submit(jobOf(shape, next++));
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

const jobOf = (shape: Shape, index: number) => ({
  wallet: walletOf(shape, index),
  job: `${shape.queue}-${index}`,
  queue: shape.queue,
  price: 40,
  payload: { prompt: 'a lighthouse at dusk', seconds: 5, index },
});

/** The life by batch calls alone: every job submitted, leased and succeeded with many others by one call. */
export async function lifeByBatches(recoup: Recoup, shape: Shape): Promise<void> {
  let next = 0;
  const submitter = async () => {
    while (next < shape.jobs) {
      const count = Math.min(BATCH, shape.jobs - next);
      next += count;
      await recoup.jobs.submitMany(Array.from({ length: count }, (_, i) => jobOf(shape, next - count + i)));
    }
  };
  await Promise.all([submitter(), submitter()]);
  let left = shape.jobs;
  const consumer = async () => {
    while (left > 0) {
      const leased = await recoup.jobs.lease({ queue: shape.queue, count: LEASE, worker: 'bench' });
      left -= leased.length;
      await recoup.jobs.succeedMany(
        leased.map(({ job }) => ({ wallet: job.wallet, job: job.id, attempt: job.attempt, result: { ok: true } })),
      );
    }
  };
  await Promise.all([consumer(), consumer()]);
}

/** Leases until `jobs` were handled, handling each leased job by one call. */
export async function drain(recoup: Recoup, shape: Shape, end: 'succeed' | 'fail'): Promise<void> {
  let left = shape.jobs;
  const consumer = async () => {
    while (left > 0) {
      const leased = await recoup.jobs.lease({ queue: shape.queue, count: CLAIM, worker: 'bench' });
      left -= leased.length;
      await Promise.all(
        leased.map(({ job }) => {
          const key = { wallet: job.wallet, job: job.id, attempt: job.attempt };
          return end === 'succeed' ? recoup.jobs.succeed({ ...key, result: { ok: true } }) : recoup.jobs.fail(key);
        }),
      );
    }
  };
  await Promise.all(Array.from({ length: CONSUMERS }, consumer));
}
