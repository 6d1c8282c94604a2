// The worker over HTTP when answers get lost, when the service is away, and when it is stopped.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, untilWaiting } from '../../recoup/test/support/waiting.ts';
import { Api } from '../../server/test/support/api.ts';
import { type Handler, RecoupClient } from '../src/index.ts';
import { newId, Stand } from './support/stand.ts';
import { working } from './support/working.ts';

let stand: Stand;
beforeAll(async () => {
  stand = await Stand.start();
});
afterAll(async () => {
  expect(await stand.close()).toEqual([]);
});
const { onError, stateOf, inState, endings, runOnce } = working(() => stand);

describe('lost answers', () => {
  test('of the lease and of the report: the job runs once and is charged once', async () => {
    const job = await stand.queued();
    const { proxy, far } = stand;
    const before = proxy.cut;
    proxy.cutNext(`POST /v1/queues/${job.queue}/leases `, 'answer');
    proxy.cutNext(`POST /v1/wallets/${job.wallet}/jobs/${job.job}/succeed `, 'answer', 2);
    const ran: number[] = [];
    await runOnce(job, async ({ attempt }) => ran.push(attempt), {}, far);
    expect(proxy.cut - before).toBe(3);
    expect(ran).toEqual([1]);
    expect(await endings(job)).toEqual(['1 succeeded']);
    expect(await stand.ledger(job.wallet)).toEqual(['charge -40']);
  });

  test('while the service is away: the lease may lapse, the result is reported when it is back', async () => {
    const job = await stand.queued();
    const { proxy, far } = stand;
    const heard: string[] = [];
    let began = () => {};
    const begun = new Promise<void>((done) => {
      began = done;
    });
    const handler: Handler = async () => {
      began();
      await until(() => proxy.cut > 0 && heard.length > 0);
      return 'done';
    };
    const worker = far.work(job.queue, handler, { concurrency: 2, onError: ({ message }) => heard.push(message) });
    await begun;
    proxy.down();
    // An outage is told once, not once a try.
    await until(() => heard.length > 0);
    proxy.up();
    await inState(job, 'succeeded');
    await worker.stop();
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatch(/^No answer/);
  });

  test('a key that does not work ends the worker with the error: no repetition changes it', async () => {
    const viewer = await stand.api.service.keys.create({ name: 'viewer', scopes: ['viewer'] });
    for (const [key, code] of [
      ['rcp_no_such', 'unauthorized'],
      [viewer.secret, 'forbidden'],
    ] as const) {
      const heard: unknown[] = [];
      const onError = (error: Error) => heard.push((error as { code?: string }).code);
      const worker = stand.with({ key }).work(newId('queue'), async () => {}, { onError });
      await expect(worker.stopped).rejects.toMatchObject({ code });
      expect(heard).toEqual([code]);
      // Stopping what has ended is no error.
      await worker.stop();
    }
  });
});

describe('draining', () => {
  test('lets handlers finish, leases nothing more, and is done when they are reported', async () => {
    const jobs = [await stand.queued()];
    const { wallet, queue } = jobs[0]!;
    let finish = () => {};
    const slow = new Promise<void>((done) => {
      finish = done;
    });
    const worker = stand.client.work(queue, () => slow, { concurrency: 1, onError });
    await until(() => worker.running === 1);
    const stopped = worker.stop();
    await stand.client.jobs.submit({ wallet, job: 'later', queue, price: 1 });
    finish();
    await stopped;
    expect(worker.running).toBe(0);
    expect(await stateOf(jobs[0]!)).toMatchObject({ state: 'succeeded' });
    expect(await stateOf({ wallet, job: 'later' })).toMatchObject({ state: 'queued', attempt: 0 });
  });

  test('gives back what does not finish: no failure, no refund', async () => {
    const job = await stand.queued();
    const worker = stand.client.work(job.queue, () => new Promise(() => {}), { drainMs: 10, graceMs: 10, onError });
    await until(() => worker.running === 1);
    await worker.stop();
    await worker.stopped;
    expect(await stateOf(job)).toMatchObject({ state: 'queued', failures: 0, releases: 1 });
    expect(await stand.ledger(job.wallet)).toEqual(['charge -40']);
  });

  test('a poll that is cut off by the stop while it takes a job gives it back at once', async () => {
    const job = await stand.queued();
    const holder = new pg.Client({ connectionString: stand.api.db.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('lock table recoup.lease_requests in access exclusive mode');
    const worker = stand.client.work(job.queue, async () => 'never', { onError });
    await untilWaiting(stand.api.db);
    const stopped = worker.stop();
    // Both the poll and the question what came of it wait now.
    await untilWaiting(stand.api.db, 2);
    await holder.query('commit');
    await stopped;
    await holder.end();
    expect(await stateOf(job)).toMatchObject({ state: 'queued', attempt: 1, failures: 0, releases: 1 });
  });

  test('is quick where nothing runs, also in the middle of a long poll; and a service that stops frees its polls', async () => {
    const service = await Api.replica(stand.api.db);
    const worker = new RecoupClient({ url: service.url }).work(newId('queue'), async () => {}, { onError: () => {} });
    await expect
      .poll(async () => (await (await fetch(`${service.url}/metrics`)).text()).includes('waiting'))
      .toBe(true);
    await service.close();
    await worker.stop();
    await using disposed = stand.client.work(newId('queue'), async () => {}, { onError });
    expect(disposed.running).toBe(0);
  });
});

test('options that cannot work are refused by name', () => {
  const refused = (options: object, field: string) =>
    expect(() => stand.client.work('q', async () => {}, options)).toThrow(
      expect.objectContaining({ code: 'invalid', details: expect.objectContaining({ field }) }),
    );
  refused({ concurrency: 0 }, 'concurrency');
  refused({ leaseMs: 1.5 }, 'leaseMs');
  refused({ waitMs: 60_001 }, 'waitMs');
  refused({ check: true }, 'check');
  refused({ parallel: 3 }, 'parallel');
  expect(() => stand.client.work('', async () => {})).toThrow('queue');
  expect(() => stand.client.work('q', 'handler' as never)).toThrow('handler');
});
