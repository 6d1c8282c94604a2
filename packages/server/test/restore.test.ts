// Backups restored under clients: files of a stopped server, a dump in a fresh cluster, a standby that is promoted.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Recoup } from 'recoup';
import { afterAll, afterEach, expect, test } from 'vitest';
import { type Embedded, startEmbedded } from '../src/embedded/embedded.ts';
import { type Service, type ServiceOptions, startService } from '../src/service.ts';
import { query, scratchFolder } from './embedded/scratch.ts';
import { Consumer, copyOwners, standbyOf } from './support/restore.ts';

const scratch = scratchFolder();
const started: { stop(): Promise<void> }[] = [];
const fast = { fsync: 'off', full_page_writes: 'off' };
let folders = 0;
const newFolder = () => join(scratch.path, String(++folders));

async function server(options: Parameters<typeof startEmbedded>[0] = {}): Promise<Embedded> {
  const one = await startEmbedded({ settings: fast, ...options });
  started.push(one);
  return one;
}

/** As `recoup start` does it: migrations first, which open an epoch where it is certain that one is due. */
async function service(url: string, more: Partial<ServiceOptions> = {}): Promise<Service> {
  const one = await startService({
    port: 0,
    open: { connection: url, migrate: true, sweep: false, onError: () => {} },
    ...more,
  });
  started.push({ stop: () => one.close() });
  return one;
}

afterEach(async () => {
  for (const one of started.splice(0).reverse()) await one.stop();
});
afterAll(() => scratch.remove());

async function submitAndSucceed({ wallets, jobs }: Recoup, ids: readonly string[]): Promise<void> {
  await wallets.open({ wallet: 'w', customer: 'c' });
  await wallets.grant({ wallet: 'w', key: 'payment-1', amount: 100 });
  for (const job of ids) {
    await jobs.submit({ wallet: 'w', job, queue: null, price: 10 });
    await jobs.succeed({ wallet: 'w', job });
  }
}
const ledger = async ({ wallets }: Recoup) => {
  const { entries } = await wallets.entries('w', { limit: 1000 });
  return entries.map(({ type, job, key }) => `${type} ${job ?? key}`);
};

test('files of an hour ago, put back: lost jobs are unknown, their repeats charge once, callbacks find them again', async () => {
  const dataDir = newFolder();
  const keep = `${newFolder()}-backup`;
  const first = await server({ dataDir });
  const real = first.dataDir;
  const before = await service(first.url);
  const consumer = new Consumer();
  await submitAndSucceed(before.recoup, ['kept-1', 'kept-2']);
  await before.close();
  await first.stop();
  cpSync(real, keep, { recursive: true, preserveTimestamps: true });
  copyOwners(real, keep);

  // The hour that will be lost: a job that succeeded, and one whose provider will call back.
  const hour = await server({ dataDir });
  const lost = await service(hour.url);
  await submitAndSucceed(lost.recoup, ['lost-1']);
  await lost.recoup.jobs.submit({ wallet: 'w', job: 'lost-2', queue: null, price: 10, upstreamRef: 'ref-lost-2' });
  const target = { provider: 'runpod', expiresInMs: 3_600_000 };
  const url = `${lost.url}/v1/wallets/w/jobs/lost-2/callback-url`;
  const { path } = (await post(url, target)) as { path: string };
  await consumer.followTo(lost.recoup, 'w 5 charge lost-2');
  await lost.close();
  await hour.stop();
  rmSync(real, { recursive: true });
  cpSync(keep, real, { recursive: true, preserveTimestamps: true });
  copyOwners(keep, real);

  const restored = await server({ dataDir });
  const told: string[] = [];
  const stream = { write: (line: string) => void told.push(line) };
  const after = await service(restored.url, { server: { logger: { level: 'warn', stream } } });
  // Files keep the server's identity: nothing shows by itself what was lost, so the operator says it.
  expect(await after.recoup.epochs.current()).toMatchObject({ number: 0, due: null });
  const opened = await post(`${after.url}/v1/epochs`, { reason: 'files of 11:00' });
  expect(opened).toMatchObject({ number: 1, reason: 'files of 11:00' });
  expect(await ledger(after.recoup)).toEqual(['grant payment-1', 'charge kept-1', 'charge kept-2']);

  // A callback for a job that is not there: 404, so that it comes again; counted, and logged with what names the job.
  const body = { id: 'ref-lost-2', status: 'COMPLETED', output: { file: 'x' } };
  expect(await post(`${after.url}${path}`, body)).toMatchObject({ code: 'no_job', wallet: 'w', job: 'lost-2' });
  const metrics = await (await fetch(`${after.url}/metrics`)).text();
  expect(metrics).toContain('recoup_transitions_total{transition="webhook.take",outcome="no_job"} 1');
  const line = told.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'a webhook about a job that is not here');
  expect(line).toMatchObject({ provider: 'runpod', upstreamRef: 'ref-lost-2', wallet: 'w', job: 'lost-2' });

  // Clients repeat what they know: what was kept is a duplicate, what was lost is charged again, once.
  const ids = ['kept-1', 'kept-2', 'lost-1', 'lost-2'];
  const submit = () => after.recoup.jobs.submitMany(ids.map((job) => ({ wallet: 'w', job, queue: null, price: 10 })));
  const outcomes = (await submit()).map((answer) => ('outcome' in answer ? answer.outcome : answer.code));
  expect(outcomes).toEqual(['duplicate', 'duplicate', 'charged', 'charged']);
  await submit();
  expect(await post(`${after.url}${path}`, body)).toMatchObject({ outcome: 'succeeded', job: 'lost-2' });
  await after.recoup.jobs.succeed({ wallet: 'w', job: 'lost-1' });
  expect((await after.recoup.wallets.balance('w')).booked).toBe(60);

  // The consumer had read what was lost: it is told, and everything since arrives.
  const since = await consumer.followTo(after.recoup, 'w lost-1 1 succeeded');
  expect(consumer.epochs).toEqual([1]);
  expect(since).toEqual(['w 4 charge lost-1', 'w 5 charge lost-2', 'w lost-2 1 succeeded', 'w lost-1 1 succeeded']);
  expect((await after.recoup.verify()).problems).toEqual([]);
});

const installed = existsSync('/usr/lib/postgresql')
  ? readdirSync('/usr/lib/postgresql')
      .map((version) => `/usr/lib/postgresql/${version}/bin`)
      .filter((binDir) => existsSync(join(binDir, 'pg_dump')) && existsSync(join(binDir, 'postgres')))
  : [];

for (const binDir of installed) {
  const version = binDir.split('/')[4];

  test(`a dump in a fresh cluster that has counted less: the feed is whole and in order [PostgreSQL ${version}]`, async () => {
    const old = await server({ throwaway: true, binDir });
    const before = await service(old.url);
    await submitAndSucceed(before.recoup, ['a']);
    await query(old.url, 'do $$ begin for i in 1..5000 loop perform pg_current_xact_id(); commit; end loop; end $$');
    await submitAndSucceed(before.recoup, ['b']);
    const consumer = new Consumer();
    const dump = `${newFolder()}.dump`;
    execFileSync(join(binDir, 'pg_dump'), ['-Fc', '-f', dump, old.url]);
    await submitAndSucceed(before.recoup, ['lost']);
    await consumer.followTo(before.recoup, 'w lost 1 succeeded');

    const fresh = await server({ throwaway: true, binDir });
    execFileSync(join(binDir, 'pg_restore'), ['-d', fresh.url, dump]);
    const after = await service(fresh.url);
    // Certain, so nobody had to be told: the start did it.
    expect(await after.recoup.epochs.current()).toMatchObject({ number: 1, actor: 'recoup', due: null });
    await submitAndSucceed(after.recoup, ['b', 'lost', 'new']);
    const late = new Consumer();
    await late.followTo(after.recoup, 'w new 1 succeeded');
    expect(late.seen).toEqual([
      ...['w 1 grant payment-1', 'w 2 charge a', 'w a 1 succeeded', 'w 3 charge b', 'w b 1 succeeded'],
      ...['w 4 charge lost', 'w lost 1 succeeded', 'w 5 charge new', 'w new 1 succeeded'],
    ]);
    expect(await consumer.followTo(after.recoup, 'w new 1 succeeded')).toEqual(late.seen.slice(5));
    expect((await after.recoup.verify()).problems).toEqual([]);
    expect((await after.recoup.wallets.balance('w')).booked).toBe(60);

    // Another restore, and a client that does not know of it writes before a service starts: that is told again.
    const again = await server({ throwaway: true, binDir });
    execFileSync(join(binDir, 'pg_restore'), ['-d', again.url, dump]);
    const hasty = await startService({ port: 0, open: { connection: again.url, sweep: false, onError: () => {} } });
    started.push({ stop: () => hasty.close() });
    await submitAndSucceed(hasty.recoup, ['hasty']);
    expect(await (await fetch(`${hasty.url}/v1/feed`)).json()).toMatchObject({ code: 'epoch_needed', status: 503 });
    const last = await service(again.url);
    expect((await last.recoup.epochs.current()).reason).toContain('dump');
    await submitAndSucceed(last.recoup, ['then']);
    // Its cursor is of the epoch 1 of the cluster before: nobody here knows it.
    const told = await late.followTo(last.recoup, 'w then 1 succeeded');
    expect(told).toContain('w hasty 1 succeeded');
    const others = new Consumer();
    await others.followTo(last.recoup, 'w then 1 succeeded');
    expect(told).toEqual(others.seen);
  });

  test(`a dump back into the same cluster, under the name it had [PostgreSQL ${version}]`, async () => {
    const cluster = await server({ throwaway: true, binDir });
    const before = await service(cluster.url);
    await submitAndSucceed(before.recoup, ['a']);
    const dump = `${newFolder()}.dump`;
    execFileSync(join(binDir, 'pg_dump'), ['-Fc', '-f', dump, cluster.url]);
    await submitAndSucceed(before.recoup, ['lost']);
    const consumer = new Consumer();
    await consumer.followTo(before.recoup, 'w lost 1 succeeded');
    await before.close();
    const other = new URL(cluster.url);
    other.pathname = '/postgres';
    const name = new URL(cluster.url).pathname.slice(1);
    await query(other.href, `drop database ${name} with (force)`);
    await query(other.href, `create database ${name} template template0 encoding 'UTF8'`);
    execFileSync(join(binDir, 'pg_restore'), ['-d', cluster.url, dump]);
    const after = await service(cluster.url);
    await after.recoup.epochs.open({ reason: 'dump of 11:00' });
    await submitAndSucceed(after.recoup, ['a', 'lost']);
    expect(await consumer.followTo(after.recoup, 'w lost 1 succeeded')).toEqual([
      'w 3 charge lost',
      'w lost 1 succeeded',
    ]);
    expect(consumer.epochs).toEqual([1]);
    expect((await after.recoup.verify()).problems).toEqual([]);
  });

  test(`an asynchronous standby, promoted: the start opens an epoch, and what came meanwhile is told [PostgreSQL ${version}]`, async () => {
    const primary = await server({
      throwaway: true,
      binDir,
      settings: { ...fast, wal_level: 'replica', max_wal_senders: '3' },
    });
    const before = await service(primary.url);
    await submitAndSucceed(before.recoup, ['kept']);
    const standby = await standbyOf(primary.url, binDir, newFolder());
    started.push(standby);
    // Cut off as by a broken network: what is acknowledged from here on never arrives there.
    await standby.cut();
    await submitAndSucceed(before.recoup, ['lost-1', 'lost-2', 'lost-3']);
    const consumer = new Consumer();
    await consumer.followTo(before.recoup, 'w lost-3 1 succeeded');
    await before.close();
    await primary.stop();
    standby.promote();

    // A client of before writes at once, before any service has started here: ids are used twice.
    const hasty = await startService({ port: 0, open: { connection: standby.url, sweep: false, onError: () => {} } });
    started.push({ stop: () => hasty.close() });
    expect((await hasty.recoup.epochs.current()).due).toContain('recoup epochs open');
    expect(await (await fetch(`${hasty.url}/readyz`)).json()).toMatchObject({
      status: 'ready',
      notices: [expect.stringContaining('recoup epochs open')],
    });
    await submitAndSucceed(hasty.recoup, ['meanwhile']);
    const after = await service(standby.url);
    expect(await after.recoup.epochs.current()).toMatchObject({ number: 1, actor: 'recoup', due: null });
    await submitAndSucceed(after.recoup, ['then']);
    const since = await consumer.followTo(after.recoup, 'w then 1 succeeded');
    expect(since.filter((name) => /meanwhile|then/.test(name))).toEqual([
      expect.stringMatching(/charge meanwhile$/),
      'w meanwhile 1 succeeded',
      expect.stringMatching(/charge then$/),
      'w then 1 succeeded',
    ]);
    expect((await after.recoup.verify()).problems).toEqual([]);
  });
}

async function post(url: string, body: unknown): Promise<unknown> {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return (await fetch(url, init)).json();
}
