// Trace context: kept with the job as it was submitted, given to workers, refused where it is none, and absent costs nothing.
import { expect } from 'vitest';
import { encode } from '../src/db/statement.ts';
import { submitInput } from '../src/jobs/inputs.ts';
import { submitJob } from '../src/jobs/submit.ts';
import { newId, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OTHER = '00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00';

onEvery('a worker gets the traceparent of the submit, in every attempt; a repeat does not change it', async (s) => {
  const { recoup } = s;
  const { wallet, job, queue } = await s.queued(10, { traceparent: TRACE });
  const key = { wallet, job };
  const submit = { ...key, queue, price: 10, traceparent: OTHER };
  expect(await recoup.jobs.submit(submit)).toMatchObject({ outcome: 'duplicate', job: { traceparent: TRACE } });
  for (const attempt of [1, 2]) {
    await s.due(queue);
    const [leased] = await recoup.jobs.lease({ queue });
    expect(leased!.job).toMatchObject({ id: job, attempt, traceparent: TRACE });
    await recoup.jobs.fail({ ...key, attempt });
  }
  expect((await recoup.jobs.get(key)).job.traceparent).toBe(TRACE);
});

onFirst('batches keep each its own, jobs without a queue too, and most have none', async (s) => {
  const wallet = await s.wallet(10);
  const answers = await s.recoup.jobs.submitMany([
    { wallet, job: 'a', queue: 'q', price: 1, traceparent: TRACE },
    { wallet, job: 'b', queue: null, price: 1, traceparent: OTHER },
    { wallet, job: 'c', queue: 'q', price: 1 },
  ]);
  expect(answers).toMatchObject([TRACE, OTHER, null].map((traceparent) => ({ job: { traceparent } })));
  for (const [job, traceparent] of [['a', TRACE] as const, ['b', OTHER] as const, ['c', null] as const]) {
    expect((await s.recoup.jobs.get({ wallet, job })).job.traceparent).toBe(traceparent);
  }
});

onEvery('what is no traceparent is refused by the library, and by the table itself', async (s) => {
  const { wallet, job } = await s.queued(1);
  const wrong = [
    '',
    'x',
    TRACE.slice(1),
    `${TRACE} `,
    `${TRACE}\n`,
    TRACE.toUpperCase(),
    TRACE.replace(/^00/, 'ff'),
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`,
  ];
  for (const traceparent of wrong) {
    const submit = s.recoup.jobs.submit({ wallet, job: newId('j'), queue: 'q', price: 0, traceparent });
    await expect(submit, JSON.stringify(traceparent)).rejects.toMatchObject({ details: { field: 'traceparent' } });
    const set = s.db.query('update recoup.jobs set traceparent = $1 where id = $2', [traceparent, job]);
    await expect(set, JSON.stringify(traceparent)).rejects.toThrow('jobs_traceparent');
  }
  await s.db.query('update recoup.jobs set traceparent = $1 where id = $2', [TRACE.replace(/^00/, 'fe'), job]);
});

onFirst('where there is none, nothing of it is sent', async () => {
  const input = { wallet: 'w', job: 'j', queue: 'q', price: 1 };
  expect(encode(submitJob, submitInput(input))).not.toContain('traceparent');
  expect(encode(submitJob, submitInput({ ...input, traceparent: TRACE }))).toContain(`"traceparent":"${TRACE}"`);
});
