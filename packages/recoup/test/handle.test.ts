// The handle: opens only on a schema that fits, sweeps by itself, refuses once it is closed, and closing ends.
import pg from 'pg';
import { expect } from 'vitest';
import { type OpenOptions, open, type Recoup } from '../src/index.ts';
import { answer, refusal, stateOf, tally, times } from './support/look.ts';
import { CuttingProxy } from './support/proxy.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { until, watch } from './support/waiting.ts';

const { onEvery, onFirst } = staging();

const codeOf = async (options: OpenOptions) => {
  const opened = await open({ sweep: false, ...options }).catch((error: unknown) => error);
  if (opened instanceof Error) return (opened as unknown as { code: string }).code;
  await (opened as Recoup).close();
  return 'opened';
};

onEvery(
  'a schema that is absent, older, newer or altered is refused by its name, and a fitting one is opened',
  async (s) => {
    const schema = `other_${newId('x').slice(2)}`;
    const connection = s.db.url;
    expect(await codeOf({ connection, schema })).toBe('schema_missing');
    expect(await codeOf({ connection, schema, migrate: true })).toBe('opened');
    expect(await codeOf({ connection, schema })).toBe('opened');
    const change = (sql: string) => s.db.query(sql.replaceAll('recoup.', `${schema}.`));
    // Newer, and this code may run beside it; newer, and it may not.
    await change(
      `insert into recoup.migrations (number, name, checksum, compatible_from) values (9998, 'later', 'x', 1)`,
    );
    expect(await codeOf({ connection, schema })).toBe('opened');
    await change(
      `insert into recoup.migrations (number, name, checksum, compatible_from) values (9999, 'breaking', 'x', 9999)`,
    );
    for (const migrate of [false, true]) expect(await codeOf({ connection, schema, migrate })).toBe('schema_ahead');
    await change('delete from recoup.migrations where number > 9000');
    await change(`update recoup.migrations set checksum = 'x' where number = 1`);
    expect(await codeOf({ connection, schema, migrate: true })).toBe('schema_altered');
    await change('update recoup.migrations set number = number - 1000');
    expect(await codeOf({ connection, schema })).toBe('schema_behind');
  },
);

onEvery('ten replicas that migrate a new schema at once: one does it, all of them open', async (s) => {
  const schema = `crowd_${newId('x').slice(2)}`;
  const handles = await Promise.all(
    times(10, () => open({ connection: s.db.url, schema, migrate: true, sweep: false })),
  );
  const [row] = await s.db.query(`select count(*)::int as done from ${schema}.migrations`);
  expect(Number(row?.done)).toBeGreaterThan(0);
  expect(await handles[0]!.verify()).toMatchObject({ ok: true });
  await Promise.all(handles.map((handle) => handle.close()));
});

onFirst('options that are none are refused by name, before anything is connected', async (s) => {
  const connection = s.db.url;
  const bad: [string, object][] = [
    ['connection', { connection: undefined }],
    ['connection', { connection: '' }],
    ['connection', { connection: 'mysql://127.0.0.1/x' }],
    ['connection', { connection: 'postgres://u:p@ss/w@127.0.0.1/x' }],
    ['connection', { connection: 'postgres://127.0.0.1:99999/x' }],
    ['schema', { connection, schema: 'Recoup' }],
    ['schema', { connection, schema: 'a; drop' }],
    ['schema', { connection, schema: 'pg_x' }],
    ['maxConnections', { connection, maxConnections: 0 }],
    ['lockTimeoutMs', { connection, lockTimeoutMs: 0.5 }],
    ['pollMs', { connection, pollMs: -1 }],
    ['pruneAfterMs', { connection, pruneAfterMs: '5' }],
    ['conection', { conection: connection }],
  ];
  for (const [field, options] of bad) {
    const refused = await refusal(open(options as OpenOptions));
    expect([field, refused.code, refused.details.field]).toEqual([field, 'invalid', field]);
  }
});

onFirst(
  'a login that the server refuses and a database that is not there are told apart from one that does not answer',
  async (s) => {
    const wrong = new URL(s.db.url);
    wrong.pathname = '/nowhere_at_all';
    expect(await codeOf({ connection: wrong.href })).toBe('database_refused');
    const nobody = new URL(s.db.url);
    nobody.port = '1';
    expect(await codeOf({ connection: nobody.href })).toBe('database_unavailable');
  },
);

onEvery(
  'a handle sweeps by itself: what lapses is retried, what is old is pruned, a failing pass does not end it',
  async (s: Stage) => {
    const complaints: Error[] = [];
    const onError = (error: Error) => void complaints.push(error);
    const replica = await s.replica({ sweep: true, pollMs: 20, pruneAfterMs: 1000, onError });
    const [lapses, done] = [await s.running(40), await s.running(40)];
    await s.recoup.jobs.succeed({ wallet: done.wallet, job: done.job });
    // For a while the database answers nothing but errors.
    await s.db.query('alter table recoup.jobs rename column lease_until to gone');
    await until(() => complaints.length > 0);
    await s.db.query('alter table recoup.jobs rename column gone to lease_until');
    await s.db.advance(3_600_000);
    await until(async () => (await stateOf(s, lapses)).state === 'queued');
    await until(async () => (await answer(s.recoup.jobs.get({ wallet: done.wallet, job: done.job }))) === 'no_job');
    await replica.close();
  },
);

onEvery('a sweep goes on behind hundreds of rows that it cannot handle now', async (s) => {
  const [held, queue] = [await s.wallet(600), newId('queue')];
  await s.recoup.jobs.submitMany(times(600, (i) => ({ wallet: held, job: `job ${i}`, queue, price: 1 })));
  for (let leased = 0; leased < 600; ) leased += (await s.recoup.jobs.lease({ queue, count: 500 })).length;
  const behind = await s.running(40);
  await s.recoup.jobs.extend({ wallet: behind.wallet, job: behind.job, attempt: 1, leaseMs: 60_000 });
  await s.db.advance(3_600_000);
  const holder = await s.client();
  await holder.query('begin');
  await holder.query('select from recoup.wallets where id = $1 for update', [held]);
  await s.recoup.sweep();
  expect(await stateOf(s, behind)).toMatchObject({ state: 'queued', failures: 1 });
  await holder.query('commit');
  expect(await s.recoup.sweep()).toMatchObject({ lapsed: 600, failed: 0 });
});

onEvery(
  'closing waits for the calls on their way and answers them; what comes later is refused as closed',
  async (s) => {
    const wallet = await s.wallet(100);
    const replica = await s.replica();
    const calls = times(50, (i) => answer(replica.jobs.submit({ wallet, job: `job ${i}`, queue: null, price: 1 })));
    const closing = replica.close();
    expect(tally(await Promise.all(calls))).toEqual({ charged: 50 });
    await closing;
    await replica.close();
    const late = [
      () => replica.jobs.submit({ wallet, job: 'late', queue: null, price: 1 }),
      () => replica.wallets.balance(wallet),
      () => replica.jobs.lease({ queue: 'q' }),
      () => replica.transaction(async ({ wallets }) => wallets.balance(wallet)),
      () => replica.verify(),
    ];
    for (const [i, call] of late.entries()) expect([i, await answer(call)]).toEqual([i, 'closed']);
    expect(() => replica.work('q', async () => {})).toThrow('closed');
  },
);

onEvery('a handle can be closed, and a worker stopped at once, while the database is gone', async (s) => {
  const proxy = await CuttingProxy.before(s.db.url);
  const replica = await s.replica({ connection: proxy.url, sweep: true, pollMs: 20, onError: () => {} });
  const job = await s.queued(40);
  let finish = () => {};
  const worker = replica.work(
    job.queue,
    () =>
      new Promise<void>((done) => {
        finish = done;
      }),
    { graceMs: 10 },
  );
  await until(() => worker.running === 1);
  proxy.down();
  finish();
  const stopping = watch(worker.stop({ now: true }));
  await stopping.call;
  await replica.close();
  await proxy.close();
  // Nobody heard that it was done: the lease recovers the job.
  await s.db.advance(3_600_000);
  await s.recoup.sweep();
  expect(await stateOf(s, job)).toMatchObject({ state: 'queued', failures: 1 });
});

onFirst('a handle that is closed leaves no connection behind', async (s) => {
  const name = newId('leaves');
  const replica = await s.replica({ applicationName: name, sweep: true, pollMs: 50 });
  replica.work('q', async () => {});
  await replica.verify({ testClock: true });
  await replica.close();
  const client = new pg.Client({ connectionString: s.db.url });
  await client.connect();
  await until(
    async () => (await client.query('select from pg_stat_activity where application_name = $1', [name])).rowCount === 0,
  );
  await client.end();
});

onEvery('the books are right', booksAreRight);
