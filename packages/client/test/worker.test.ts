// The worker over HTTP: what a handler's end means, and leases that are kept, lost, and lapse with a killed process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import { type Aborted, Done, Failure, type Handler, Release, type Work, type WorkOptions } from '../src/index.ts';
import { newId, Stand } from './support/stand.ts';
import { working } from './support/working.ts';

let stand: Stand;
beforeAll(async () => {
  stand = await Stand.start();
});
afterAll(async () => {
  expect(await stand.close()).toEqual([]);
});
const { onError, stateOf, inState, endings, lapse, runOnce } = working(() => stand);

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
