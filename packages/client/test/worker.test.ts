// The worker over HTTP: what a handler's end means, leases kept and lost, kills, lost answers, and how it drains.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, untilWaiting } from '../../recoup/test/support/waiting.ts';
import { Api } from '../../server/test/support/api.ts';
import {
  type Aborted,
  Done,
  Failure,
  type Handler,
  RecoupClient,
  Release,
  type Work,
  type WorkOptions,
} from '../src/index.ts';
import { newId, Stand } from './support/stand.ts';

type Key = { wallet: string; job: string };
let stand: Stand;
const errors: Error[] = [];
const onError = (error: Error) => void errors.push(error);
beforeAll(async () => {
  stand = await Stand.start();
});
afterAll(async () => {
  expect(await stand.close()).toEqual([]);
});

const stateOf = async ({ wallet, job }: Key) => (await stand.client.jobs.get({ wallet, job })).job;
const inState = (job: Key, state: string) => until(async () => (await stateOf(job)).state === state);
const endings = async ({ wallet, job }: Key) =>
  (await stand.client.jobs.attempts({ wallet, job })).attempts.map(({ attempt, endedAs }) => `${attempt} ${endedAs}`);
/** Lets leases lapse now, as the sweep of any replica does. */
async function lapse(job: Key): Promise<void> {
  await stand.api.db.query(
    `update recoup.jobs set lease_until = recoup.clock() - interval '1 second' where wallet_id = $1 and id = $2 and state = 'running'`,
    [job.wallet, job.job],
  );
  await stand.api.service.recoup.sweep();
}

/** Runs one job with a handler until it has left the handler's hands; then stops the worker. */
async function runOnce(job: { queue: string }, handler: Handler, options: WorkOptions = {}, client = stand.client) {
  let ran = () => {};
  const begun = new Promise<void>((done) => {
    ran = done;
  });
  const run: Handler = (work) => {
    ran();
    return handler(work);
  };
  const worker = client.work(job.queue, run, { concurrency: 1, name: 'the worker', onError, ...options });
  await begun;
  await worker.stop();
}

describe('what comes of a handler', () => {
  test('what it returns is the result; with a final price and a reference where it says so', async () => {
    const [plain, more] = [await stand.queued({ payload: { n: 5 } }), await stand.queued()];
    await runOnce(plain, async ({ payload }) => ({ doubled: (payload as { n: number }).n * 2 }));
    await runOnce(more, async () => new Done(undefined, { finalPrice: 30, upstreamRef: 'ref' }));
    const got = await stand.client.jobs.get({ wallet: plain.wallet, job: plain.job });
    expect(got).toMatchObject({ result: { doubled: 10 }, job: { state: 'succeeded', worker: 'the worker' } });
    expect(await stateOf(more)).toMatchObject({ state: 'succeeded', finalPrice: 30, upstreamRef: 'ref' });
    expect(await stand.ledger(more.wallet)).toEqual(['charge -40', 'settle 10']);
  });

  test.each([
    [new Error('boom'), { state: 'queued', failures: 1, verdict: 'presumed', reason: 'boom' }],
    [undefined, { state: 'queued', failures: 1, verdict: 'presumed' }],
    [
      new Failure('no', { verdict: 'definitive' }),
      { state: 'queued', failures: 1, verdict: 'definitive', reason: 'no' },
    ],
    [new Failure('never', { verdict: 'definitive', retryable: false }), { state: 'dead', failures: 1 }],
    [new Failure('odd', { retryAfterMs: -5 }), { state: 'queued', failures: 1, reason: 'odd' }],
    [new Release('not now', { delayMs: 60_000 }), { state: 'queued', failures: 0, releases: 1 }],
    [new Release('odd', { delayMs: -1 }), { state: 'queued', failures: 1, reason: 'odd' }],
  ])('what it throws: %s', async (threw, expected) => {
    const job = await stand.queued();
    await runOnce(job, () => Promise.reject(threw));
    expect(await stateOf(job)).toMatchObject(expected);
    const refunded = expected.failures > 0;
    expect(await stand.ledger(job.wallet)).toEqual(refunded ? ['charge -40', 'refund 40'] : ['charge -40']);
  });

  test.each([
    ['is no JSON', () => 10n],
    ['is a function', () => () => {}],
    ['is too large', () => 'x'.repeat(1_048_577)],
    ['is far too large', () => 'x'.repeat(20_000_000)],
    ['holds what PostgreSQL cannot', () => 'a\u0000b'],
  ])('a result that %s is a dead letter, at once', async (_what, result) => {
    const job = await stand.queued();
    await runOnce(job, async () => result());
    expect(await stateOf(job)).toMatchObject({ state: 'dead', verdict: 'definitive' });
    expect(await stand.ledger(job.wallet)).toEqual(['charge -40', 'refund 40']);
  });

  test('a final price that is none does not undo the success', async () => {
    const job = await stand.queued();
    await runOnce(job, async () => new Done('done', { finalPrice: -1 }));
    expect(await stateOf(job)).toMatchObject({ state: 'succeeded', finalPrice: null });
  });

  test('handed over to its provider: whatever the handler returns, the callback ends it', async () => {
    const job = await stand.queued();
    const upstreamRef = newId('ref');
    await runOnce(job, async (work) => {
      await work.note(upstreamRef);
      await work.handOver({ upstreamRef });
      throw new Error('not heard');
    });
    expect(await stateOf(job)).toMatchObject({ state: 'waiting', upstreamRef });
    await stand.client.upstreamRefs.succeed({ upstreamRef, result: 1 });
    expect(await endings(job)).toEqual(['1 succeeded']);
  });

  test.each([
    ['succeeded', { state: 'succeeded', succeededAttempt: 1 }, ['charge -40', 'refund 40', 'reclaim -40']],
    ['working', { state: 'waiting', upstreamRef: 'the run' }, ['charge -40', 'refund 40']],
    ['failed', { state: 'succeeded', succeededAttempt: 2 }, ['charge -40', 'refund 40', 'reclaim -40']],
  ] as const)('after a presumed failure the check is asked first: %s', async (status, expected, ledger) => {
    const job = await stand.running();
    const key = { wallet: job.wallet, job: job.job, attempt: 1 };
    await stand.client.jobs.extend({ ...key, upstreamRef: 'the run' });
    await stand.client.jobs.fail({ ...key, retryAfterMs: 0 });
    await stand.api.db.query(`update recoup.jobs set not_before = recoup.clock() where wallet_id = $1`, [job.wallet]);
    const asked: unknown[] = [];
    const check = async ({ earlier }: Work) => {
      asked.push(earlier?.upstreamRef);
      return { status };
    };
    const ran: number[] = [];
    const worker = stand.client.work(job.queue, async ({ attempt }) => void ran.push(attempt), { check, onError });
    await inState(job, expected.state);
    await worker.stop();
    expect(await stateOf(job)).toMatchObject(expected);
    expect(asked).toEqual(['the run']);
    expect(ran).toEqual(status === 'failed' ? [2] : []);
    expect(await stand.ledger(job.wallet)).toEqual(ledger);
  });
});

describe('leases', () => {
  /** Runs a job whose handler waits for its signal; tells why that fired. */
  async function abortedBy(
    job: { queue: string },
    act: () => Promise<unknown>,
    options: WorkOptions = {},
  ): Promise<string> {
    let why = '';
    let began = () => {};
    const begun = new Promise<void>((done) => {
      began = done;
    });
    const handler: Handler = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          why = (signal.reason as Aborted).cause;
          reject(signal.reason as Error);
        });
        began();
      });
    const worker = stand.client.work(job.queue, handler, { concurrency: 1, leaseMs: 300, onError, ...options });
    await begun;
    await act();
    await until(() => why);
    await worker.stop();
    return why;
  }

  test('are kept for as long as the handler runs', async () => {
    const job = await stand.queued();
    const leaseUntil = async () => (await stateOf(job)).leaseUntil;
    await runOnce(
      job,
      async () => {
        // Extended twice, as the database has it.
        const seen = new Set<string | null>();
        await until(async () => seen.add(await leaseUntil()).size > 2);
        return 'slow';
      },
      { leaseMs: 300 },
    );
    expect(await endings(job)).toEqual(['1 succeeded']);
  });

  test('that are lost, and jobs that are canceled or done elsewhere, fire the signal', async () => {
    const job = await stand.queued();
    expect(await abortedBy(job, () => lapse(job))).toBe('lease_lost');
    expect(await stand.ledger(job.wallet)).toEqual(['charge -40', 'refund 40']);
    expect(await endings(job)).toEqual(['1 lapsed']);
    const canceled = await stand.queued();
    const { wallet, job: id } = canceled;
    expect(await abortedBy(canceled, () => stand.client.jobs.cancel({ wallet, job: id }))).toBe('canceled');
    const done = await stand.queued();
    expect(await abortedBy(done, () => stand.client.jobs.succeed({ wallet: done.wallet, job: done.job }))).toBe(
      'succeeded',
    );
    const late = await stand.queued();
    expect(await abortedBy(late, async () => {}, { timeoutMs: 10 })).toBe('timeout');
    expect(await stateOf(late)).toMatchObject({ state: 'queued', failures: 1, verdict: 'presumed' });
  });

  test('a success after the time-out is the late success: reclaimed', async () => {
    const job = await stand.queued();
    let finish = () => {};
    const slow = new Promise<void>((done) => {
      finish = done;
    });
    const worker = stand.client.work(job.queue, () => slow.then(() => 'late'), {
      timeoutMs: 10,
      graceMs: 0,
      concurrency: 1,
      onError,
    });
    await until(async () => (await stateOf(job)).failures === 1);
    const stopped = worker.stop();
    finish();
    await stopped;
    await inState(job, 'succeeded');
    expect(await stand.ledger(job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
  });

  test('of a worker process that is killed lapse; another worker does the job', async () => {
    const job = await stand.queued();
    const program = fileURLToPath(new URL('./support/worker-process.ts', import.meta.url));
    const argv = ['--import', 'tsx', '-C', 'recoup-source', program, stand.api.service.url, job.queue];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(JSON.parse(line)).toEqual({ id: job.job, attempt: 1 });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await lapse(job);
    await stand.api.db.query(`update recoup.jobs set not_before = recoup.clock() where wallet_id = $1`, [job.wallet]);
    await runOnce(job, async () => 'done');
    expect(await endings(job)).toEqual(['1 lapsed', '2 succeeded']);
    expect(await stand.ledger(job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
  });
});

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

  test('a key that does not work is told, again and again, and the worker goes on asking', async () => {
    const heard: unknown[] = [];
    const worker = stand
      .with({ key: 'rcp_no_such' })
      .work(newId('queue'), async () => {}, { onError: (error) => heard.push((error as { code?: string }).code) });
    await until(() => heard.length > 1);
    await worker.stop();
    expect(new Set(heard)).toEqual(new Set(['unauthorized']));
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
    const worker = stand.client.work(queue, () => slow, { concurrency: 2, onError });
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
