// Upgrades: databases that real older releases filled are migrated, beside those releases at work, past long readers, through kills.
import { describe, expect, inject, test } from 'vitest';
import { migrate, migrations, schemaState } from '../src/db/migrate.ts';
import { open } from '../src/index.ts';
import { answer, times } from './support/look.ts';
import { type Older, olderReleases } from './support/older.ts';
import { asBefore, customers, fill, oldDatabase, rowsOf } from './support/upgrading.ts';
import { until, untilWaiting, watch } from './support/waiting.ts';

const newest = (await migrations()).at(-1)!.number;
const servers = inject('servers');
/** Each on one of the servers in turn, the first and the last on all. */
const everyRelease = olderReleases.flatMap((release) =>
  servers
    .filter((_, index) => release === 1 || release === olderReleases.at(-1) || release % servers.length === index)
    .map(({ name, url }) => [release, name, url] as const),
);

const handle = (url: string, more = {}) => open({ connection: url, sweep: false, onError: () => {}, ...more });

test('there is a packed release for every schema that was: npx tsx tools/pack-older.ts, before a migration is added', () => {
  expect(olderReleases.filter((release) => release < newest)).toEqual(times(newest - 1, (index) => index + 1));
});

describe.each(everyRelease)('from the release that knows migration %i [%s]', (release, _, server) => {
  test('money and jobs are as they were, the books are right, and everything goes on', async () => {
    await using db = await oldDatabase(release, server);
    const before = await db.open();
    for (const wallet of ['ada', 'bob']) await fill(before, wallet);
    const then = await rowsOf(db);
    const ready = await handle(db.url, { migrate: true });
    expect(asBefore(then, await rowsOf(db))).toEqual(asBefore(then, then));
    expect(then.jobs!.length).toBeGreaterThan(15);
    expect((await ready.verify()).problems).toEqual([]);
    // What the older release began, the newer one ends; a repeat of what was said before is a repeat.
    expect(
      await ready.wallets.grant({ wallet: 'ada', key: 'start', amount: 1000, note: 'what was paid' }),
    ).toMatchObject({ outcome: 'duplicate' });
    expect(await ready.jobs.succeed({ wallet: 'ada', job: 'dead', attempt: 1 })).toMatchObject({
      outcome: 'reclaimed',
    });
    expect(await ready.jobs.succeed({ wallet: 'ada', job: 'running', attempt: 1 })).toMatchObject({
      outcome: 'succeeded',
    });
    expect(await ready.jobs.byUpstreamRef('ref-bob')).toMatchObject([{ job: { id: 'waiting' }, attempt: 1 }]);
    expect(await ready.jobs.lease({ queue: 'later', count: 5 })).toHaveLength(2);
    // And the other way round.
    expect(await before.jobs.succeed({ wallet: 'bob', job: 'waiting', attempt: 1 })).toMatchObject({
      outcome: 'succeeded',
    });
    expect((await ready.verify()).problems).toEqual([]);
    await ready.close();
  });

  test('under load from old replicas, while two new ones start at once and join in', async () => {
    await using db = await oldDatabase(release, server);
    const old = [await db.open(), await db.open()];
    const working = customers(old, 8, 'old');
    await until(async () => Number((await db.query('select count(*) from recoup.attempts'))[0]!.count) > 50);
    const ready = await Promise.all(times(2, () => handle(db.url, { migrate: true })));
    const joined = customers(ready as unknown as Older[], 4, 'new');
    const seen = Number((await db.query('select count(*) from recoup.attempts'))[0]!.count);
    await until(async () => Number((await db.query('select count(*) from recoup.attempts'))[0]!.count) > seen + 100);
    const ended = [...(await working.stop()), ...(await joined.stop())];
    for (const { wallet, booked } of ended) expect(await ready[0]!.wallets.balance(wallet)).toMatchObject({ booked });
    expect((await ready[0]!.verify()).problems).toEqual([]);
    // An older release that starts now still may.
    await db.open();
    await Promise.all(ready.map((one) => one.close()));
  });
});

describe('somebody reads for long', () => {
  test('calls go on meanwhile, and the migration is done once he is', async () => {
    await using db = await oldDatabase(1);
    const old = await db.open();
    await fill(old, 'ada');
    const reader = await db.client();
    await reader.query('begin');
    await reader.query('select count(*) from recoup.jobs');
    const migrating = watch(migrate(await db.client(), 'recoup'));
    await untilWaiting(db);
    // Each of these would stand behind the migration, which stands behind the reader.
    for (const job of times(30, (index) => `meanwhile-${index}`)) {
      expect(await old.jobs.submit({ wallet: 'ada', job, queue: null, price: 1 })).toMatchObject({
        outcome: 'charged',
      });
    }
    expect(migrating.settled).toBe(false);
    await reader.query('commit');
    expect(await migrating.call).toHaveLength(newest - 1);
  });

  test('for longer than the migration is patient: refused with who it is, and nothing was changed', async () => {
    await using db = await oldDatabase(1);
    const old = await db.open();
    const reader = await db.client();
    await reader.query('begin');
    await reader.query('select count(*) from recoup.jobs');
    const pid = Number((await reader.query('select pg_backend_pid() as pid')).rows[0].pid);
    const refusal = await migrate(await db.client(), 'recoup', { patienceMs: 0 }).catch((error) => error);
    expect(refusal).toMatchObject({ code: 'migration_blocked', retryable: true, details: { holders: [{ pid }] } });
    expect(refusal.message).toContain(`process ${pid}`);
    expect(await schemaState(await db.client(), 'recoup')).toMatchObject({ applied: 1, known: newest });
    await fill(old, 'ada');
    expect((await old.verify()).problems).toEqual([]);
  });
});

test('a migration that is killed in the middle leaves the version of before, which works; the next one finishes', async () => {
  await using db = await oldDatabase(1);
  const old = await db.open();
  await fill(old, 'ada');
  // Held at its third step, when what came before is done and not committed.
  const holder = await db.client();
  await holder.query('begin; lock table recoup.jobs in share mode');
  const killed = await db.client();
  const pid = Number((await killed.query('select pg_backend_pid() as pid')).rows[0].pid);
  const migrating = answer(migrate(killed, 'recoup'));
  await untilWaiting(db);
  const inside = await db.query(`select from pg_locks where pid = $1 and mode = 'AccessExclusiveLock' and granted`, [
    pid,
  ]);
  expect(inside.length).toBeGreaterThan(0);
  await db.query('select pg_terminate_backend($1)', [pid]);
  expect(await migrating).toBe('database_unavailable');
  await holder.query('rollback');
  expect(await schemaState(await db.client(), 'recoup')).toMatchObject({ applied: 1 });
  expect(await db.query(`select to_regclass('recoup.api_keys')::text as there`)).toEqual([{ there: null }]);
  await fill(old, 'bob');
  const ready = await handle(db.url, { migrate: true });
  expect((await ready.verify()).problems).toEqual([]);
  await ready.close();
});

test('a default isolation that keeps the first snapshot does not make the second of two replicas migrate again', async () => {
  await using db = await oldDatabase(1);
  const [{ name }] = (await db.query('select current_database() as name')) as [{ name: string }];
  await db.query(`alter database ${name} set default_transaction_isolation = 'serializable'`);
  const ready = await Promise.all(times(4, () => handle(db.url, { migrate: true })));
  expect((await ready[0]!.verify()).problems).toEqual([]);
  await Promise.all(ready.map((one) => one.close()));
});

describe('what does not fit together is refused', () => {
  test('code that is newer than the schema, and code that is older than the schema allows', async () => {
    await using db = await oldDatabase(2);
    await expect(handle(db.url)).rejects.toMatchObject({
      code: 'schema_behind',
      details: { applied: 2, known: newest },
    });
    const ready = await handle(db.url, { migrate: true });
    const running = await db.open();
    await db.query(
      `insert into recoup.migrations (number, name, checksum, compatible_from) values (9999, 'breaking', 'x', $1)`,
      [newest],
    );
    for (const migrating of [false, true]) {
      await expect(db.open({ migrate: migrating })).rejects.toMatchObject({
        code: 'schema_ahead',
        details: { applied: 9999, known: 2 },
      });
    }
    // The newest may still; and nobody takes the schema away from an older one that runs: it is unready, not cut off.
    await (await handle(db.url)).close();
    await fill(running, 'ada');
    await ready.close();
  });
});
