// Queues with a pool over HTTP: a job comes with an upstream, and the provider's answer is told to both.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, newId } from './support/api.ts';

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api.close());

test('a queue with a pool: a job comes with an upstream, and the answer is told to both', async () => {
  const [pool, wallet] = [newId('pool'), await api.wallet(100)];
  await api.call('upstreams.register', { upstream: `${pool}-1`, pool, provider: pool, credentialRef: 'vault/one' });
  expect(await api.call('queues.configure', { queue: pool, pool })).toMatchObject({ pool, maxUpstreamErrors: 3 });
  await api.call('jobs.submit', { wallet, job: pool, queue: pool, price: 10 });
  const [leased] = (await api.call('queues.lease', { queue: pool, model: 'large', waitMs: 1000 })).jobs;
  const upstream = { upstream: `${pool}-1`, provider: pool, credentialRef: 'vault/one', lease: expect.any(String) };
  expect(leased).toMatchObject({ job: { attempt: 1, upstream: `${pool}-1` }, upstream });
  const said = { wallet, job: pool, attempt: 1, answer: { status: 429, headers: { 'retry-after': '30' } } };
  const told = { means: 'release', outcome: 'released', refunded: false, upstream: { outcome: 'blocked' } };
  expect(await api.call('jobs.report', said)).toMatchObject(told);
  const out = { pool, reason: 'rate_limited', estimate: { source: 'retry_after' } };
  expect(await api.call('queues.lease', { queue: pool, waitMs: 100 })).toMatchObject({ jobs: [], out });
  await api.refused('jobs.report', 'invalid', { ...said, answer: {} });
  await api.refused('jobs.report', 'no_job', { ...said, job: 'nobody' });
  expect((await api.call('queues.configure', { queue: pool, pool: null })).pool).toBe(null);
  const [alone] = (await api.call('queues.lease', { queue: pool })).jobs;
  expect(alone.upstream).toBe(null);
  // Of this attempt; what is said of the first, which had one, is old.
  await api.refused('jobs.report', 'invalid', { ...said, attempt: 2 });
  expect(await api.call('jobs.report', said)).toMatchObject({ outcome: 'stale' });
});
