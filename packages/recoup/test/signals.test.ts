// Every order of signals: each sequence of four, each signal sent twice, ends with the money that the rules say.
import { expect } from 'vitest';
import type { Recoup } from '../src/index.ts';
import { answer, times } from './support/look.ts';
import { booksAreRight, newId, type Running, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const PRICE = 40;

/** What is known of a job's money while signals come in. */
interface Money {
  succeeded: boolean;
  canceled: boolean;
  refunded: boolean;
  final: number | null;
}

interface Signal {
  send(recoup: Recoup, of: Running): Promise<unknown>;
  /** What it does to the money, by the rules; nothing that came later is known. */
  means(money: Money): Partial<Money>;
}

const isOver = ({ succeeded, canceled }: Money) => succeeded || canceled;
const fails = (money: Money) => (isOver(money) ? {} : { refunded: true });
const of = ({ wallet, job }: Running) => ({ wallet, job });

const SIGNALS: readonly Signal[] = [
  { send: (r, job) => r.jobs.fail({ ...job }), means: fails },
  { send: (r, job) => r.jobs.fail({ ...job, verdict: 'definitive', retryable: false }), means: fails },
  { send: (r, job) => r.jobs.succeed({ ...job }), means: (m) => (isOver(m) ? {} : { succeeded: true }) },
  {
    send: (r, job) => r.jobs.succeed({ ...job, finalPrice: 25 }),
    means: (m) => (m.canceled ? {} : { succeeded: true, final: m.final ?? 25 }),
  },
  {
    send: (r, job) => r.jobs.settle({ ...of(job), finalPrice: 55 }),
    means: (m) => (isOver(m) ? { final: m.final ?? 55 } : {}),
  },
  {
    send: (r, job) => r.jobs.cancel({ ...of(job), keep: 12 }),
    means: (m) => (m.succeeded ? {} : { canceled: true, final: m.final ?? 12 }),
  },
  { send: (r, job) => r.jobs.cancel({ ...of(job) }), means: (m) => (m.succeeded ? {} : { canceled: true }) },
  { send: (r, job) => r.jobs.deadLetters.redrive(of(job)), means: () => ({}) },
];

function takes({ succeeded, canceled, refunded, final }: Money): number {
  if (final !== null) return final;
  return succeeded || !(canceled || refunded) ? PRICE : 0;
}

/** Every sequence of `length` signals, as numbers of SIGNALS. */
function sequences(length: number): number[][] {
  if (length === 0) return [[]];
  return sequences(length - 1).flatMap((before) => SIGNALS.map((_, signal) => [...before, signal]));
}

/** A running job for each sequence, spread over a few wallets; attempt 1, or attempt 2 after a failure. */
async function jobsFor(s: Stage, count: number): Promise<Running[]> {
  const wallets = await Promise.all(times(20, () => s.wallet(PRICE * count)));
  const queue = newId('queue');
  const submits = times(count, (i) => ({ wallet: wallets[i % 20]!, job: `job ${i}`, queue, price: PRICE }));
  expect((await s.recoup.jobs.submitMany(submits)).every((got) => 'outcome' in got && got.outcome === 'charged')).toBe(
    true,
  );
  for (let leased = 0; leased < count; ) leased += (await s.recoup.jobs.lease({ queue, count: 500 })).length;
  return submits.map(({ wallet, job }) => ({ wallet, job, attempt: 1 }));
}

async function taken({ db }: Stage, jobs: readonly Running[]): Promise<number[]> {
  const rows = await db.query(
    `select i.ord, -sum(e.amount)::int as taken from jsonb_to_recordset($1::jsonb) as i(ord int, wallet text, job text)
     join recoup.entries e on e.wallet_id = i.wallet and e.job_id = i.job group by i.ord order by i.ord`,
    [JSON.stringify(jobs.map(({ wallet, job }, ord) => ({ ord, wallet, job })))],
  );
  return rows.map((row) => Number(row.taken));
}

onEvery('every sequence of four signals, each sent twice, takes what the rules say', async (s) => {
  const orders = sequences(4);
  const jobs = await jobsFor(s, orders.length);
  for (let step = 0; step < 4; step++) {
    // Both copies stand in the same batch; one of them at most may count.
    const sends = orders.flatMap((order, i) => times(2, () => SIGNALS[order[step]!]!.send(s.recoup, jobs[i]!)));
    await Promise.all(sends.map((send) => answer(send)));
  }
  const wrong = (await taken(s, jobs)).flatMap((got, i) =>
    got === expectedOf(orders[i]!) ? [] : [`${orders[i]}: took ${got}`],
  );
  expect(wrong).toEqual([]);
});

onEvery(
  'the same signals at once, from four replicas and in any order, leave one of the sums that an order leaves',
  async (s) => {
    const orders = sequences(3);
    const jobs = await jobsFor(s, orders.length);
    const replicas = [s.recoup, await s.replica(), await s.replica(), await s.replica()];
    const sends = orders.flatMap((order, i) => order.map((signal) => ({ signal, i })));
    await Promise.all(sends.map(({ signal, i }, n) => answer(SIGNALS[signal]!.send(replicas[n % 4]!, jobs[i]!))));
    const wrong = (await taken(s, jobs)).flatMap((got, i) => {
      const allowed = permutations(orders[i]!).map(expectedOf);
      return allowed.includes(got) ? [] : [`${orders[i]}: took ${got}, allowed ${allowed}`];
    });
    expect(wrong).toEqual([]);
  },
);

onEvery('the books are right', booksAreRight);

function expectedOf(order: readonly number[]): number {
  let money: Money = { succeeded: false, canceled: false, refunded: false, final: null };
  for (const signal of order) money = { ...money, ...SIGNALS[signal]!.means(money) };
  return takes(money);
}

function permutations(order: readonly number[]): number[][] {
  if (order.length < 2) return [[...order]];
  return order.flatMap((first, i) =>
    permutations([...order.slice(0, i), ...order.slice(i + 1)]).map((rest) => [first, ...rest]),
  );
}
