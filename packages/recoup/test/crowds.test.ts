// Crowds: calls that come while a batch is on its way gather for a moment, so that fewer statements carry them; few wait for nothing.
import { expect } from 'vitest';
import type { Submit } from '../src/index.ts';
import { times } from './support/look.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';
import { untilWaiting } from './support/waiting.ts';

const { onEvery } = staging();
const external = (wallet: string, job: string): Submit => ({ wallet, job, queue: null, price: 1 });

/** Submits one job, `during` more while it is held up, and `after` more the moment it is answered. Gives how many each transaction booked. */
async function batches(s: Stage, during: number, after: number): Promise<number[]> {
  const wallets = await Promise.all(times(1 + during + after, () => s.wallet(1)));
  const patient = await s.replica({ lockTimeoutMs: 60_000 });
  const submit = (wallet: string) => patient.jobs.submit(external(wallet, 'of a crowd'));
  const holder = await s.client();
  await holder.query('begin');
  await holder.query('lock table recoup.jobs in exclusive mode');
  const first = submit(wallets[0]!);
  await untilWaiting(s.db);
  const behind = wallets.slice(1, 1 + during).map(submit);
  await holder.query('commit');
  await first;
  await Promise.all([...behind, ...wallets.slice(1 + during).map(submit)]);
  await patient.close();
  const sql = `select count(*)::int as booked from recoup.entries where wallet_id = any($1) and type = 'charge' group by tx order by tx`;
  return (await s.db.query(sql, [wallets])).map(({ booked }) => Number(booked));
}

onEvery(
  'ten that came while a batch was on its way share the next with those who come at once behind them',
  async (s) => {
    expect(await batches(s, 10, 38)).toEqual([1, 48]);
  },
);

onEvery('so many that a batch is full enough go without those who come behind them', async (s) => {
  expect(await batches(s, 48, 2)).toEqual([1, 48, 2]);
});

onEvery('a few go at once', async (s) => {
  expect(await batches(s, 2, 3)).toEqual([1, 2, 3]);
});

onEvery('nobody else comes: a crowd goes as it is', async (s) => {
  expect(await batches(s, 10, 0)).toEqual([1, 10]);
});

onEvery('the books are right', booksAreRight);
