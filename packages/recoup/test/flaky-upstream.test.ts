// The flaky upstream: the same seed is the same misfortune, and what it says was done was done.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { type FlakyUpstream, flakyUpstream, type Plan } from '../src/testing.ts';
import { until } from './support/waiting.ts';

const FAST = { slowMs: [60, 120], callbackMs: [1, 30] } as const;
const jobs = (count: number) => Array.from({ length: count }, (_, index) => `job-${index}`);

interface Told {
  id: string;
  attempt: number;
  status: 'succeeded' | 'failed';
}

/** Receives callbacks; refuses each of them so many times first. */
async function receiver(refusals = 0) {
  const told: Told[] = [];
  const refused = new Map<string, number>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const times = refused.get(body) ?? 0;
    refused.set(body, times + 1);
    if (times >= refusals) told.push(JSON.parse(body) as Told);
    response.writeHead(times >= refusals ? 204 : 503).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/told`;
  return {
    url,
    told,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** The status of the answer, or 0 where there was none. */
async function run(upstream: FlakyUpstream, body: object, signal = AbortSignal.timeout(60_000)): Promise<number> {
  try {
    const answer = await fetch(`${upstream.url}/v1/run`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal,
    });
    await answer.text();
    return answer.status;
  } catch {
    return 0;
  }
}

const ask = async (upstream: FlakyUpstream, id: string) =>
  (await (await fetch(`${upstream.url}/v1/run/${encodeURIComponent(id)}`)).json()) as { status: string };

test('the same seed gives the same plans, in any order; another seed gives others', async () => {
  await using one = await flakyUpstream({ seed: 7 });
  await using two = await flakyUpstream({ seed: 7 });
  await using other = await flakyUpstream({ seed: 8 });
  const plans = (upstream: FlakyUpstream, ids: string[]) =>
    new Map(ids.flatMap((id) => [1, 2, 3].map((attempt) => [`${id} ${attempt}`, upstream.plan(id, attempt, 5)])));
  const ids = jobs(1000);
  const first = plans(one, ids);
  expect(plans(two, ids.toReversed())).toEqual(first);
  const same = [...plans(other, ids)].filter(([key, plan]) => JSON.stringify(plan) === JSON.stringify(first.get(key)));
  expect(same.length).toBeLessThan(first.size / 10);
});

test('every kind of misfortune comes about as often as its rate says', async () => {
  await using upstream = await flakyUpstream({ rates: { slow: 0.2, error: 0 }, lost: 0.3, doubled: 0.2 });
  const plans = jobs(10_000).map((id) => upstream.plan(id, 1));
  const part = (is: (plan: Plan) => boolean) => plans.filter(is).length / plans.length;
  const kind = (name: string) => part((plan) => plan.kind === name);
  expect(kind('slow')).toBeCloseTo(0.2, 1);
  expect(kind('error')).toBe(0);
  for (const name of ['rate_limited', 'rejected', 'dropped', 'late_success', 'late_failure']) {
    expect(kind(name), name).toBeGreaterThan(0.01);
  }
  const slow = plans.filter((plan) => plan.kind === 'slow');
  expect(slow.filter((plan) => plan.callbacks.length === 0).length / slow.length).toBeCloseTo(0.3, 1);
  expect(slow.filter((plan) => plan.callbacks.length === 2).length / slow.length).toBeCloseTo(0.2, 1);
  const late = plans.filter((plan) => plan.kind === 'late_failure' && plan.callbacks.length === 2);
  expect(late.some(({ callbacks }) => callbacks[0]!.status === 'succeeded' && callbacks[1]!.status === 'failed')).toBe(
    true,
  );
});

test('answers, callbacks and the ground truth are what the plans say', async () => {
  await using upstream = await flakyUpstream({ seed: 3, ...FAST });
  await using callbacks = await receiver();
  const ids = jobs(400);
  const statuses = await Promise.all(
    ids.map((id) => run(upstream, { id, attempt: 1, ms: 2, callback: callbacks.url })),
  );
  await upstream.idle();
  expect(upstream.pending).toBe(0);
  const plans = ids.map((id) => upstream.plan(id, 1, 2));
  const expected = { drop: 0, result: 200 };
  expect(statuses).toEqual(plans.map(({ answer }) => (typeof answer === 'number' ? answer : expected[answer])));
  for (const [index, id] of ids.entries()) {
    const done = plans[index]!.doneMs === null ? 0 : 1;
    expect(upstream.runs.get(id), id).toEqual({ requests: 1, done, working: 0 });
    expect((await ask(upstream, id)).status, id).toBe(done ? 'succeeded' : 'failed');
  }
  const planned = ids.flatMap((id, index) => plans[index]!.callbacks.map(({ status }) => `${id} ${status}`));
  expect(callbacks.told.map(({ id, status }) => `${id} ${status}`).sort()).toEqual(planned.sort());
  expect(upstream.counts.callbacks).toBe(planned.length);
  expect(upstream.counts.callbacks_lost).toBeGreaterThan(0);
});

const late: Plan = {
  kind: 'slow',
  answer: 'result',
  answerMs: 1500,
  doneMs: 1500,
  callbacks: [{ status: 'succeeded', ms: 1520 }],
};

test('a late success on demand: the client is gone, the work goes on, the callback comes', async () => {
  await using upstream = await flakyUpstream({
    plan: (job, attempt) => (job === 'a' && attempt === 1 ? late : undefined),
  });
  await using callbacks = await receiver();
  const gone = new AbortController();
  const request = run(upstream, { id: 'a', attempt: 1, callback: callbacks.url }, gone.signal);
  await until(() => upstream.runs.get('a')?.working === 1);
  gone.abort();
  expect(await request).toBe(0);
  expect((await ask(upstream, 'a')).status).toBe('working');
  expect(upstream.runs.get('a')).toMatchObject({ done: 0, working: 1 });
  await upstream.idle();
  expect((await ask(upstream, 'a')).status).toBe('succeeded');
  expect(callbacks.told).toMatchObject([{ id: 'a', attempt: 1, status: 'succeeded' }]);
  expect(upstream.plan('a', 2).kind).not.toBe(undefined);
});

test('without an attempt the requests of a job are counted; done twice is done twice', async () => {
  const done: Plan = { kind: 'success', answer: 'result', answerMs: 1, doneMs: 1, callbacks: [] };
  const seen: number[] = [];
  await using upstream = await flakyUpstream({
    plan: (_, attempt) => {
      seen.push(attempt);
      return done;
    },
  });
  for (let i = 0; i < 3; i++) expect(await run(upstream, { id: 'a job/1' })).toBe(200);
  expect(seen).toEqual([1, 2, 3]);
  expect(upstream.runs.get('a job/1')).toEqual({ requests: 3, done: 3, working: 0 });
  expect((await ask(upstream, 'a job/1')).status).toBe('succeeded');
});

test('a callback is sent again until it is taken', async () => {
  await using upstream = await flakyUpstream({
    plan: () => ({ ...late, answerMs: 1, doneMs: 1, callbacks: [{ status: 'failed', ms: 2 }] }),
  });
  await using callbacks = await receiver(2);
  await run(upstream, { id: 'a', callback: callbacks.url });
  await upstream.idle();
  expect(callbacks.told).toHaveLength(1);
  expect(upstream.counts).toMatchObject({ callbacks: 1 });
});

test('what is not a request is refused, and what is not a rate', async () => {
  await using upstream = await flakyUpstream();
  for (const body of [
    {},
    { id: '' },
    { id: 'a', attempt: 0 },
    { id: 'a', ms: -1 },
    { id: 'a', ms: '5' },
    { id: 'a', callback: 'x' },
  ]) {
    expect(await run(upstream, body), JSON.stringify(body)).toBe(400);
  }
  expect((await fetch(`${upstream.url}/v1/run/nobody`)).status).toBe(404);
  expect((await fetch(`${upstream.url}/v1/run/%E0%A4%A`)).status).toBe(400);
  expect((await fetch(`${upstream.url}/v1/other`)).status).toBe(404);
  expect(upstream.runs.size).toBe(0);
  await expect(flakyUpstream({ rates: { slow: 1 } })).rejects.toThrow(/at most 1/);
  await expect(flakyUpstream({ lost: -1 })).rejects.toThrow(/at least 0/);
  await expect(flakyUpstream({ rates: { slwo: 0.1 } as object })).rejects.toThrow(/slwo is not a kind/);
});

test('closed in the middle it is gone at once, and nobody waits for what will not come', async () => {
  const upstream = await flakyUpstream({ plan: () => ({ ...late, answerMs: 60_000, doneMs: 60_000, callbacks: [] }) });
  const asked = run(upstream, { id: 'a' });
  while (upstream.pending === 0) await new Promise((done) => setTimeout(done, 5));
  const idle = upstream.idle();
  await upstream.close();
  await upstream.close();
  await idle;
  expect(await asked).toBe(0);
});
