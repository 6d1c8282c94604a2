// Reads and claims cost the same however much lies behind them: counted in blocks, not in time.
import type pg from 'pg';
import { expect } from 'vitest';
import type { AnyStatement } from '../src/db/database.ts';
import type { Runner } from '../src/db/runner.ts';
import { render } from '../src/db/statement.ts';
import { Claims } from '../src/jobs/claims.ts';
import { balanceAt, getBalance, listEntries } from '../src/wallets/queries.ts';
import { times } from './support/look.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onFirst } = staging();

/** The blocks that a statement touches. */
async function blocks(client: pg.Client, statement: AnyStatement, input: object): Promise<number> {
  const text = `explain (analyze, buffers, format json) ${render(statement, 'patient', 'recoup').text}`;
  const { rows } = await client.query(text, [JSON.stringify([input])]);
  const plan = rows[0]['QUERY PLAN'][0].Plan as Record<string, number>;
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}

onFirst('a wallet with 200,000 entries is read at the cost of one with ten', async (s) => {
  const [small, big] = [newId('small'), newId('big')];
  for (const [wallet, entries] of [
    [small, 10],
    [big, 200_000],
  ] as const) {
    await s.db.query(
      `insert into recoup.wallets (id, customer_id, balance, last_seq, last_entry_at) values ($1, 'c', $2, $2, now())`,
      [wallet, entries],
    );
    await s.db.query(
      `insert into recoup.entries (wallet_id, seq, type, amount, balance, key, created_at)
      select $1, n, 'grant', 1, n, n::text, now() - ($2 - n) * interval '1 ms' from generate_series(1, $2::int) n`,
      [wallet, entries],
    );
  }
  await s.db.query(
    `update recoup.wallets w set last_entry_at = (select max(created_at) from recoup.entries where wallet_id = w.id)
    where id in ($1, $2)`,
    [small, big],
  );
  await s.db.query('vacuum analyze recoup.entries');
  const client = await s.client();
  await client.query('set enable_seqscan = off');
  const cost = async (wallet: string) => [
    await blocks(client, getBalance, { wallet_id: wallet }),
    await blocks(client, listEntries, { wallet_id: wallet, after_seq: 0, count: 5 }),
  ];
  const [few, many] = [await cost(small), await cost(big)];
  for (const [i, count] of many.entries()) expect(count).toBeLessThanOrEqual(few[i]! + 4);
  // A binary search: some eighteen steps of a few blocks.
  expect(await blocks(client, balanceAt, { wallet_id: big, at: new Date().toISOString() })).toBeLessThan(120);
  expect((await s.recoup.wallets.balanceAt(big, new Date(Date.now() + 1000))).booked).toBe(200_000);
  await s.recoup.wallets.grant({ wallet: big, key: 'one more', amount: 1 });
  expect((await s.recoup.wallets.balance(big)).booked).toBe(200_001);
});

/** Runs statements on a client of its own, and counts the blocks that each touches. */
class CountingRunner {
  blocks: number[] = [];
  observe(): void {}
  readonly #client: pg.Client;
  constructor(client: pg.Client) {
    this.#client = client;
  }
  async read<A>(statement: AnyStatement<A>, inputs: readonly object[]): Promise<A[]> {
    await this.#client.query('begin');
    this.blocks.push(await blocks(this.#client, statement, inputs[0]!));
    await this.#client.query('rollback');
    const { rows } = await this.#client.query(render(statement, 'patient', 'recoup').text, [JSON.stringify(inputs)]);
    return JSON.parse(rows[0].answer) as A[];
  }
}

onFirst('claims stay flat while another session holds a snapshot open and thousands were claimed before', async (s) => {
  const [queue, wallet] = [newId('queue'), await s.wallet()];
  // An hour old, and of now: a claim starts reading half a minute behind what was claimed last.
  const fill = (from: number, count: number, notBefore: Date) =>
    s.recoup.jobs.submitMany(times(count, (i) => ({ wallet, job: `job ${from + i}`, queue, price: 0, notBefore })));
  const holder = await s.client();
  await holder.query('begin isolation level repeatable read');
  await holder.query('select count(*) from recoup.jobs');
  await fill(0, 10_000, new Date(Date.now() - 3_600_000));
  for (let got = 1; got > 0; ) got = (await s.recoup.jobs.lease({ queue, count: 500 })).length;
  await fill(10_000, 20, new Date(Date.now() - 1000));
  const client = await s.client();
  await client.query('set enable_seqscan = off');
  const runner = new CountingRunner(client);
  const claims = new Claims();
  const claim = async () => {
    const input = { queue, count: 1, worker: null, lease_ms: null, request_id: null };
    const got = await claims.claim(runner as unknown as Runner, input);
    return got === 'pooled' ? [] : got;
  };
  // The first one reads from the beginning, past everything that the snapshot keeps; the next ones start behind it.
  for (let i = 0; i < 5; i++) expect((await claim()).length).toBe(1);
  const [first, ...next] = runner.blocks;
  for (const count of next.slice(0, 3)) expect(count).toBeLessThan(first! / 2);
  await holder.query('rollback');
  // Nothing is missed for it: what became due behind the mark is found as well.
  await s.recoup.jobs.submit({ wallet, job: 'behind', queue, price: 0, notBefore: new Date(0) });
  const rest: string[] = [];
  for (let got = await claim(); got.length > 0; got = await claim()) rest.push(...got.map(() => 'one'));
  expect(rest.length).toBe(16);
});

onFirst('the books are right', booksAreRight);
