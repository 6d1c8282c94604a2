// What a host may do to us: throwing callbacks, reused inputs, names on its search_path, what it sets on a connection, odd numbers.
import { expect } from 'vitest';
import { open, Refusal } from '../src/index.ts';
import { answer, refusal, times } from './support/look.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

const of = ({ wallet, job, attempt }: { wallet: string; job: string; attempt: number }) => ({ wallet, job, attempt });

onFirst('a callback of the host that throws changes no answer, and closing still ends', async (s) => {
  const told: string[] = [];
  const thrower = await open({
    connection: s.db.url,
    sweep: false,
    onTransition: () => {
      throw new Error('the host stumbles');
    },
    onError: (error) => {
      told.push(error.message);
      throw new Error('here too');
    },
  });
  const wallet = await s.wallet(100);
  const submits = times(3, (i) => thrower.jobs.submit({ wallet, job: `job ${i}`, queue: 'q', price: 10 }));
  expect((await Promise.all(submits)).map(({ outcome }) => outcome)).toEqual(times(3, () => 'charged'));
  expect(told).toContain('the host stumbles');
  await thrower.close();
});

onEvery('null is the same as not given, also when the call is repeated', async (s) => {
  const done = await s.running(40);
  const given = { ...of(done), finalPrice: null } as object as Parameters<typeof s.recoup.jobs.succeed>[0];
  expect(await answer(s.recoup.jobs.succeed(given))).toBe('succeeded');
  expect(await answer(s.recoup.jobs.succeed(given))).toBe('duplicate');
  const job = await s.running(40);
  const cancel = { wallet: job.wallet, job: job.job, keep: null } as object as Parameters<
    typeof s.recoup.jobs.cancel
  >[0];
  expect(await answer(s.recoup.jobs.cancel(cancel))).toBe('canceled');
  expect(await answer(s.recoup.jobs.cancel(cancel))).toBe('duplicate');
});

onEvery('an input that its owner changes while the call is on its way names the job it named', async (s) => {
  const [first, second] = [await s.running(40), await s.running(40)];
  await s.recoup.jobs.succeed(of(first));
  const input = { ...of(first), finalPrice: 30 };
  const call = s.recoup.jobs.succeed(input);
  Object.assign(input, of(second), { finalPrice: 1 });
  expect(await call).toMatchObject({ outcome: 'duplicate', finalPrice: 30 });
  expect((await s.recoup.jobs.get({ wallet: second.wallet, job: second.job })).job.state).toBe('running');
});

onEvery(
  'a function of the host with the name of a built-in one is not called, in our connections or in his',
  async (s) => {
    await s.db.query(`create function public.json_agg(json) returns json language plpgsql as
    $$ begin raise exception 'called the wrong one'; end $$`);
    await s.db.query(
      `create function public.json_build_array(text) returns json language sql as $$ select '["fake"]'::json $$`,
    );
    const wallet = await s.wallet(50);
    expect(await answer(s.recoup.jobs.submit({ wallet, job: 'own', queue: 'q', price: 60 }))).toBe(
      'insufficient_credits',
    );
    const client = await s.client();
    await client.query('begin');
    const { jobs } = s.recoup.using(client);
    expect(await answer(jobs.submit({ wallet, job: 'his', queue: 'q', price: 40 }))).toBe('charged');
    await client.query('rollback');
    await s.db.query('drop function public.json_agg(json); drop function public.json_build_array(text)');
  },
);

onFirst('what a transaction was lent is taken back at its end, with what was set on it', async (s) => {
  const wallet = await s.wallet(50);
  let kept: { query(text: string): Promise<unknown> } | undefined;
  let later: Promise<unknown> | undefined;
  await s.recoup.transaction(async ({ jobs }, client) => {
    kept = client;
    await client.query(`set statement_timeout = '7s'; set search_path = nowhere`);
    await jobs.submit({ wallet, job: 'inside', queue: 'q', price: 1 });
    later = new Promise((done) => setImmediate(() => setTimeout(() => done(undefined), 0)));
  });
  await later;
  expect(() => kept!.query('select 1')).toThrow(Refusal);
  const shown = await s.recoup.transaction((_inside, client) => client.query('show statement_timeout'));
  expect(shown.rows).toEqual([{ statement_timeout: '0' }]);
});

onFirst('numbers count as the database writes them; a claim takes no more bytes than an answer carries', async (s) => {
  const wallet = await s.wallet(1000);
  const tiny = times(10_000, () => 5e-324);
  const refused = await refusal(s.recoup.jobs.submit({ wallet, job: 'tiny', queue: 'q', price: 1, payload: tiny }));
  expect([refused.code, refused.details.field]).toEqual(['invalid', 'payload']);
  const queue = newId('queue');
  const payload = 'x'.repeat(1_000_000);
  await s.recoup.jobs.submitMany(times(40, (i) => ({ wallet, job: `big ${i}`, queue, price: 1, payload })));
  const sizes: number[] = [];
  for (let got = 0; got < 40; got += sizes.at(-1)!)
    sizes.push((await s.recoup.jobs.lease({ queue, count: 40 })).length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(32);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(40);
});

onEvery('a row that the server stumbles over, whatever its error, is nobody else’s', async (s) => {
  const [bad, ...good] = [await s.running(40), await s.running(40), await s.running(40)];
  for (const code of ['XX001', '54000', 'P0001', '23514', '22003']) {
    await s.db.query(`create or replace function public.stumble() returns trigger language plpgsql as
      $$ begin if new.wallet_id = '${bad!.wallet}' and new.id = '${bad!.job}' then raise exception 'stumbles' using errcode = '${code}'; end if; return new; end $$`);
    await s.db.query(
      `create or replace trigger stumble before update on recoup.jobs for each row execute function public.stumble()`,
    );
    const answers = await s.recoup.jobs.failMany([bad!, ...good].map(of));
    expect([code, ...answers.map((one) => ('outcome' in one ? one.outcome : one.code))]).toEqual(
      code === 'XX001'
        ? [code, 'database_error', 'retrying', 'retrying']
        : [code, 'database_error', 'duplicate', 'duplicate'],
    );
  }
  await s.db.query('drop trigger stumble on recoup.jobs');
});

onEvery('the balance at an entry’s own instant counts the entry', async (s) => {
  const { wallet } = await s.queued(40);
  for await (const entry of s.recoup.wallets.replay(wallet)) {
    const at = await s.recoup.wallets.balanceAt(wallet, entry.createdAt, { parts: true });
    expect(at.seq).toBeGreaterThanOrEqual(entry.seq);
  }
});

onFirst('a back-off and a single attempt do not go together, in one step or in two', async (s) => {
  const queue = newId('queue');
  await s.recoup.queues.configure(queue, { backoffBaseMs: 10, backoffMaxMs: 100 });
  const refused = await refusal(s.recoup.queues.configure(queue, { maxFailures: 1 }));
  expect([refused.code, refused.details.field]).toEqual(['invalid', 'maxFailures']);
  expect((await s.recoup.queues.get(queue)).maxFailures).toBe(5);
});

onEvery('the books are right', booksAreRight);
