// PostgreSQL dies while jobs run: what is said of their attempts afterwards counts as the leases stand, a success always.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { open, type Recoup } from '../src/index.ts';
import { answer } from './support/look.ts';
import { RestartableServer } from './support/restartable-server.ts';
import { until } from './support/waiting.ts';

const folder = mkdtempSync(join(tmpdir(), 'recoup-restart-'));
chmodSync(folder, 0o755);
let server: RestartableServer;
let recoup: Recoup;
beforeAll(async () => {
  server = await RestartableServer.start(join(folder, 'data'));
  recoup = await open({ connection: server.proxy.url, migrate: true, sweep: false });
});
afterAll(async () => {
  await recoup.close();
  await server.gone();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

const LONG = 3_600_000;
const SHORT = 100;
type At = { wallet: string; job: string; attempt: number };
const fail = (job: At) => answer(recoup.jobs.fail({ ...job, reason: 'reported' }));
const refuse = (job: At) => answer(recoup.jobs.fail({ ...job, verdict: 'definitive', retryable: false }));
const succeed = (job: At) => answer(recoup.jobs.succeed(job));
const stateOf = async ({ wallet, job }: At) => (await recoup.jobs.get({ wallet, job })).job;

/** Until the lease is over by the server's clock, and swept. */
const swept = (job: At) =>
  until(async () => {
    await recoup.sweep();
    return (await stateOf(job)).state === 'queued';
  });
const again = async (job: At) => {
  await swept(job);
  await until(async () => (await recoup.jobs.lease({ queue: job.job, leaseMs: LONG })).length === 1);
};
/** Until it is over by the server's clock, and nobody has swept. */
const over = (job: At) =>
  until(() =>
    recoup.transaction(async (_, client) => {
      const sql = 'select lease_until < recoup.clock() as over from recoup.jobs where id = $1';
      return ((await client.query(sql, [job.job])) as { rows: { over: boolean }[] }).rows[0]!.over;
    }),
  );

interface Case {
  leaseMs: number;
  /** What has become of the lease before the reports arrive. */
  meanwhile?: (job: At) => Promise<unknown>;
  reports: readonly [report: (job: At) => Promise<string>, answer: string][];
  types: string;
  failures: number;
}

const CASES: Readonly<Record<string, Case>> = {
  'its lease stands: the failure counts, once': {
    leaseMs: LONG,
    reports: [
      [fail, 'retrying'],
      [fail, 'duplicate'],
      [succeed, 'reclaimed'],
    ],
    types: 'charge refund reclaim',
    failures: 1,
  },
  'its lease is over, and nobody has swept yet: the failure is the one that the sweep would have counted': {
    leaseMs: SHORT,
    meanwhile: over,
    reports: [
      [fail, 'retrying'],
      [fail, 'duplicate'],
    ],
    types: 'charge refund',
    failures: 1,
  },
  'its lease lapsed: the failure is known already': {
    leaseMs: SHORT,
    meanwhile: swept,
    reports: [
      [fail, 'duplicate'],
      [succeed, 'reclaimed'],
    ],
    types: 'charge refund reclaim',
    failures: 1,
  },
  'its lease lapsed: the provider’s last word ends it without another refund': {
    leaseMs: SHORT,
    meanwhile: swept,
    reports: [
      [refuse, 'dead'],
      [refuse, 'duplicate'],
    ],
    types: 'charge refund',
    failures: 1,
  },
  'it runs again: the failure of the old attempt is stale, its success counts': {
    leaseMs: SHORT,
    meanwhile: again,
    reports: [
      [fail, 'stale'],
      [refuse, 'stale'],
      [succeed, 'reclaimed'],
      [fail, 'succeeded'],
    ],
    types: 'charge refund reclaim',
    failures: 1,
  },
  'its success, and then what came too late': {
    leaseMs: LONG,
    reports: [
      [succeed, 'succeeded'],
      [succeed, 'duplicate'],
      [fail, 'succeeded'],
    ],
    types: 'charge',
    failures: 0,
  },
};

test('killed in the middle of jobs: a report that was not heard is made again, and means what the lease says', async () => {
  const jobs = Object.entries(CASES).map(([name, one], i) => ({
    name,
    ...one,
    job: { wallet: 'w', job: `job ${i}`, attempt: 1 },
  }));
  await recoup.wallets.open({ wallet: 'w', customer: 'c' });
  await recoup.wallets.grant({ wallet: 'w', key: 'start', amount: 1000 });
  for (const { job, leaseMs } of jobs) {
    await recoup.queues.configure(job.job, { backoffBaseMs: 0, backoffMaxMs: 0 });
    await recoup.jobs.submit({ wallet: 'w', job: job.job, queue: job.job, price: 10 });
    expect(await recoup.jobs.lease({ queue: job.job, leaseMs })).toHaveLength(1);
  }
  await server.kill();
  for (const { name, job, reports } of jobs)
    expect([name, await reports[0]![0](job)]).toEqual([name, 'database_unavailable']);
  await server.startAgain();
  for (const { name, job, meanwhile, reports, types, failures } of jobs) {
    await meanwhile?.(job);
    for (const [index, [report, expected]] of reports.entries())
      expect([name, index, await report(job)]).toEqual([name, index, expected]);
    const entries = await recoup.wallets.entriesOf('w', job.job);
    expect([name, entries.map(({ type }) => type).join(' ')]).toEqual([name, types]);
    expect([name, (await stateOf(job)).failures]).toEqual([name, failures]);
  }
  await recoup.sweep();
  expect((await recoup.verify()).problems).toEqual([]);
});
