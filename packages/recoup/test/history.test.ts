// What a wallet held at any instant, exactly; and reads and claims that cost the same however much lies behind them.
import fc from 'fast-check';
import type pg from 'pg';
import { expect } from 'vitest';
import type { AnyStatement } from '../src/db/database.ts';
import type { Runner } from '../src/db/runner.ts';
import { render } from '../src/db/statement.ts';
import { Claims } from '../src/jobs/claims.ts';
import { balanceAt, getBalance, listEntries } from '../src/wallets/queries.ts';
import { Crowd } from './support/crowd.ts';
import { answer, entriesOf, ledger, tally, times } from './support/look.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

onEvery('the balance at any past instant is the one after the last entry at or before it', async (s) => {
  const wallet = await s.wallet();
  const start = await s.stopClock();
  const after = [{ at: start - 1, seq: 0, booked: 0 }];
  let booked = 0;
  for (let i = 1; i <= 40; i++) {
    // Several entries at one instant, and instants without any.
    if (i % 3 === 0) await s.db.advance(1000 * (i % 5));
    const amount = i % 4 === 0 ? -3 : i;
    booked += amount;
    await s.recoup.wallets.adjust({ wallet, key: `${i}`, amount });
    after.push({ at: (await s.db.now()).getTime(), seq: i, booked });
  }
  const last = after.at(-1)!.at;
  const instants = [
    ...new Set([start - 86_400_000, ...after.flatMap(({ at }) => [at - 1, at, at + 1]), last + 86_400_000]),
  ];
  for (const instant of instants) {
    const expected = after.filter(({ at, seq }) => seq === 0 || at <= instant).at(-1)!;
    const got = await s.recoup.wallets.balanceAt(wallet, new Date(instant));
    expect([instant, got.seq, got.booked]).toEqual([instant, expected.seq, expected.booked]);
  }
  expect(await answer(s.recoup.wallets.balanceAt(newId('nowhere'), new Date()))).toBe('no_wallet');
});

onEvery('a replay has every entry once, forwards, backwards and from anywhere, over pages', async (s) => {
  const wallet = await s.wallet();
  await s.recoup.wallets.grantMany(times(2500, (i) => ({ wallet, key: `${i}`, amount: 1 })));
  const seqs = async (options: object) => {
    const got: number[] = [];
    for await (const { seq } of s.recoup.wallets.replay(wallet, options)) got.push(seq);
    return got;
  };
  const all = times(2500, (i) => i + 1);
  expect(await seqs({})).toEqual(all);
  expect(await seqs({ newestFirst: true })).toEqual(all.toReversed());
  expect(await seqs({ afterSeq: 1499 })).toEqual(all.slice(1499));
  expect(await seqs({ afterSeq: 2499, newestFirst: true })).toEqual([2500]);
  expect(await seqs({ afterSeq: 9999 })).toEqual([]);
});

onEvery(
  'sixteen callers on one wallet, whose transactions begin and end in any order: created_at never falls along seq',
  async (s) => {
    const wallet = await s.wallet();
    const crowd = await Crowd.on(s);
    const answers = await crowd.all(160, ({ wallets }, i) => wallets.grant({ wallet, key: `${i}`, amount: 1 }));
    expect(tally(answers)).toEqual({ granted: 160 });
    const [fallen] = await s.db.query(
      `select count(*)::int as fallen from (select created_at < lag(created_at) over (order by seq) as falls
     from recoup.entries where wallet_id = $1) x where falls`,
      [wallet],
    );
    expect(fallen).toEqual({ fallen: 0 });
    expect((await entriesOf(s, wallet)).map(({ seq }) => seq)).toEqual(times(160, (i) => i + 1));
  },
);

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
  const fill = (from: number, count: number) =>
    s.recoup.jobs.submitMany(times(count, (i) => ({ wallet, job: `job ${from + i}`, queue, price: 0 })));
  await s.stopClock();
  const holder = await s.client();
  await holder.query('begin isolation level repeatable read');
  await holder.query('select count(*) from recoup.jobs');
  await fill(0, 6000);
  for (let got = 1; got > 0; ) got = (await s.recoup.jobs.lease({ queue, count: 500 })).length;
  await s.db.advance(120_000);
  await fill(6000, 100);
  const client = await s.client();
  await client.query('set enable_seqscan = off');
  const runner = new CountingRunner(client);
  const claims = new Claims();
  const claim = () =>
    claims.claim(runner as unknown as Runner, { queue, count: 10, worker: null, lease_ms: null, request_id: null });
  // The first one reads from the beginning, past everything that the snapshot keeps; the next ones start behind it.
  for (let i = 0; i < 5; i++) expect((await claim()).length).toBe(10);
  const [first, ...next] = runner.blocks;
  for (const count of next.slice(0, 3)) expect(count).toBeLessThan(first! / 2);
  await holder.query('rollback');
  // Nothing is missed for it: what became due behind the mark is found as well.
  await s.recoup.jobs.submit({ wallet, job: 'behind', queue, price: 0, notBefore: new Date(0) });
  const rest: string[] = [];
  for (let got = await claim(); got.length > 0; got = await claim()) rest.push(...got.map(() => 'one'));
  expect(rest.length).toBe(51);
});

onFirst('whatever is granted, charged and given back, the balance is the sum of the entries', async (s) => {
  const step = fc.record({
    kind: fc.constantFrom('grant', 'adjust', 'submit', 'fail', 'succeed'),
    amount: fc.integer({ min: 1, max: 50 }),
    job: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const wallet = await s.wallet();
      for (const [i, { kind, amount, job: n }] of steps.entries()) {
        const job = { wallet, job: `job ${n}` };
        if (kind === 'grant') await s.recoup.wallets.grant({ wallet, key: `${i}`, amount });
        else if (kind === 'adjust') await s.recoup.wallets.adjust({ wallet, key: `${i}`, amount: -amount });
        else if (kind === 'submit') await answer(s.recoup.jobs.submit({ ...job, queue: null, price: amount }));
        else if (kind === 'fail') await answer(s.recoup.jobs.fail(job));
        else await answer(s.recoup.jobs.succeed({ ...job, ...(n % 2 ? { finalPrice: amount } : {}) }));
      }
      const booked = (await ledger(s, wallet)).reduce((sum, entry) => sum + Number(entry.split(' ')[1]), 0);
      expect(await s.recoup.wallets.balance(wallet)).toMatchObject({ booked, spendable: Math.max(booked, 0) });
    }),
    { numRuns: 25 },
  );
});

onEvery('the books are right', booksAreRight);
