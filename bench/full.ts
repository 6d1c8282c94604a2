// The money life on a full database: waiting and finished jobs, a long ledger, and a snapshot held open, against an empty one.
import pg from 'pg';
import { open } from '../packages/recoup/src/index.ts';
import { testDatabase } from '../packages/recoup/src/testing.ts';
import type { Figures } from './figures.ts';
import { openWallets } from './lives.ts';
import { life } from './rounds.ts';

export const FULL = 'money life, full database';
export const EMPTY = 'money life, empty database beside it';

const WALLETS = 10_000;
/** Per wallet and unit of size: entries, and of these the charges, half of waiting jobs and half of finished ones. */
const ENTRIES = 100;
const CHARGES = 20;
const GRANT = 1_000_000;
const PRICE = 40;

/**
 * Size 10: a million waiting jobs, a million finished ones, ten million entries. Consistent, so that `verify` holds. Of the
 * waiting jobs half are ready in another queue and half are due tomorrow in the queues of the lives.
 */
const fill = (size: number, queues: number) => {
  const [entries, charges] = [ENTRIES * size, CHARGES * size];
  const grants = entries - charges;
  return [
    `insert into recoup.entries (wallet_id, seq, type, amount, balance, key, job_id, created_at)
  select 'wallet-' || w, s, case when s <= ${grants} then 'grant' else 'charge' end,
    case when s <= ${grants} then ${GRANT} else ${-PRICE} end,
    least(s, ${grants})::bigint * ${GRANT} - greatest(s - ${grants}, 0) * ${PRICE},
    case when s <= ${grants} then 'k' || s end, case when s > ${grants} then 'old-' || s end, now() - interval '1 day'
  from generate_series(0, ${WALLETS - 1}) w, generate_series(1, ${entries}) s`,
    `insert into recoup.wallets (id, customer_id, balance, last_seq, last_entry_at)
  select 'wallet-' || w, 'bench', ${grants}::bigint * ${GRANT} - ${charges * PRICE}, ${entries}, now() - interval '1 day'
  from generate_series(0, ${WALLETS - 1}) w`,
    `insert into recoup.jobs (wallet_id, id, queue, state, price, attempt, max_failures, not_before, succeeded_at, succeeded_attempt,
    submitted_at, started_at, payload, result)
  select 'wallet-' || w, 'old-' || s,
    case when s % 4 = 0 then 'backlog' else 'life-' || w % ${queues} end,
    case when done then 'succeeded' else 'queued' end, ${PRICE}, done::int, 5,
    case when s % 4 = 0 then now() - interval '1 hour' when not done then now() + interval '1 day' end,
    case when done then now() - interval '1 day' end, case when done then 1 end, now() - interval '1 day',
    case when done then now() - interval '1 day' end,
    '{"prompt": "a lighthouse at dusk", "seconds": 5}', case when done then '{"ok": true}'::jsonb end
  from generate_series(0, ${WALLETS - 1}) w, generate_series(${grants + 1}, ${entries}) s
  cross join lateral (select s % 2 = 1 as done) d`,
    `insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, job_state, worker, started_at, ended_at)
  select wallet_id, id, 1, 'succeeded', 'succeeded', 'bench', started_at, succeeded_at from recoup.jobs where state = 'succeeded'`,
  ];
};

export interface FullFigures {
  waiting_jobs: number;
  finished_jobs: number;
  entries: number;
  fill_s: number;
}

/** Both lives by turns, `rounds` times; the snapshot is held on the full database only. */
export async function full(
  serverUrl: string,
  figures: Figures,
  { jobs, rounds, size }: { jobs: number; rounds: number; size: number },
  say: (line: string) => void,
): Promise<FullFigures> {
  await using db = await testDatabase(serverUrl);
  await using empty = await testDatabase(serverUrl);
  const began = performance.now();
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  say(`filling a database: ${ENTRIES * size * WALLETS} entries, ${CHARGES * size * WALLETS} jobs`);
  // Faster to fill; what is timed runs on other connections.
  await client.query('set synchronous_commit = off');
  // In one transaction: now() is one instant for a wallet and its last entry.
  await client.query(['begin', ...fill(size, rounds), 'commit'].join(';\n'));
  // As it would be found: hint bits set, statistics there, nothing left for autovacuum to begin with.
  await client.query('vacuum (analyze) recoup.entries, recoup.jobs, recoup.attempts, recoup.wallets');
  await client.query('checkpoint');
  const fillSeconds = Math.round((performance.now() - began) / 1000);
  const [there] = await db.query(`
    select count(*) filter (where state = 'queued') as waiting, count(*) filter (where state = 'succeeded') as finished,
      (select count(*) from recoup.entries) as entries from recoup.jobs`);
  say(`  filled in ${fillSeconds} s`);
  await using ours = await open({ connection: db.url, sweep: false });
  await using other = await open({ connection: empty.url, sweep: false });
  await openWallets(other, WALLETS);
  for (const recoup of [ours, other]) await life(recoup, { jobs: 2000, wallets: WALLETS, queue: 'warm' });
  // Holds back vacuum for as long as it is open, as a dump or a report that runs for hours does.
  await client.query('begin isolation level repeatable read');
  await client.query('select count(*) from recoup.queues');
  for (let round = 0; round < rounds; round++) {
    const of = { jobs, wallets: WALLETS, queue: `life-${round}` };
    const steps = [
      () => figures.timed(FULL, jobs, () => life(ours, of)),
      () => figures.timed(EMPTY, jobs, () => life(other, of)),
    ];
    for (const step of round % 2 === 0 ? steps : steps.reverse()) await step();
  }
  await client.query('rollback');
  await client.end();
  const verified = await ours.verify();
  if (!verified.ok) throw new Error(`verify: ${JSON.stringify(verified.problems[0])}`);
  return {
    waiting_jobs: Number(there!.waiting),
    finished_jobs: Number(there!.finished),
    entries: Number(there!.entries),
    fill_s: fillSeconds,
  };
}
