// Deliveries of webhooks: taken, sent again, dead, replayed; secrets; what ended long ago.
import { expect } from 'vitest';
import type { Recoup } from '../src/index.ts';
import { refusal, times } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { dead, endpointOf, kindsOf, settled, told, URL } from './support/webhooks.ts';

const { onEvery } = staging();

onEvery('what is taken by one sender is passed over by others until its lease is over', async (s) => {
  const of = await endpointOf(s, ['job.dead']);
  await dead(s);
  const [made] = await told(s, of, 1);
  expect(await s.recoup.webhooks.due()).toContain(of);
  const taken = (await Promise.all(times(5, () => s.recoup.webhooks.lease(of)))).flat();
  expect(taken).toHaveLength(1);
  const [first] = taken;
  expect(first).toMatchObject({ id: made!.delivery, attempt: 1, tries: 1, url: URL, kind: 'job.dead' });
  expect(JSON.parse(first!.body)).toEqual(made!.payload);
  expect(await s.recoup.webhooks.due()).not.toContain(of);
  // The sender dies here.
  await s.db.advance(60_001);
  const [second] = await s.recoup.webhooks.lease(of);
  expect(second).toMatchObject({ id: first!.id, attempt: 2, body: first!.body });
  expect(await s.recoup.webhooks.report({ id: first!.id, attempt: 1, delivered: true })).toMatchObject({
    outcome: 'stale',
  });
  expect(await s.recoup.webhooks.report({ id: first!.id, attempt: 2, delivered: true, status: 204 })).toEqual({
    outcome: 'delivered',
    dueAt: null,
  });
  expect(await s.recoup.webhooks.report({ id: first!.id, attempt: 2, delivered: false })).toMatchObject({
    outcome: 'stale',
  });
  expect(await s.recoup.webhooks.delivery(first!.id)).toMatchObject({
    state: 'delivered',
    lastStatus: 204,
    attempt: 2,
  });
});

/** Fails a delivery once more; how long until the next try, in seconds. */
async function failing(s: Stage, of: string, more: object = {}): Promise<{ outcome: string; after: number | null }> {
  const [taken] = await s.recoup.webhooks.lease(of);
  const { id, attempt } = taken!;
  const { outcome, dueAt } = await s.recoup.webhooks.report({
    ...{ id, attempt, delivered: false, status: 500, error: 'status 500', ...more },
  });
  const after = dueAt === null ? null : (dueAt.getTime() - (await s.db.now()).getTime()) / 1000;
  if (after !== null) await s.db.advance(after * 1000 + 1);
  return { outcome, after };
}

onEvery('what fails is sent again at the advised times, then is dead, and is replayed by hand', async (s) => {
  const of = await endpointOf(s, ['job.dead']);
  await dead(s);
  const [{ delivery: id } = { delivery: '' }] = await told(s, of, 1);
  await s.stopClock();
  await s.db.advance(1);
  for (const seconds of [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]) {
    const { outcome, after } = await failing(s, of);
    expect(outcome).toBe('retrying');
    expect(after).toBeGreaterThanOrEqual(seconds - 0.01);
    expect(after).toBeLessThanOrEqual(seconds * 1.1 + 0.01);
  }
  expect(await failing(s, of)).toEqual({ outcome: 'dead', after: null });
  expect(await s.recoup.webhooks.get(of)).toMatchObject({ pending: 0, dead: 1 });
  expect(await s.recoup.webhooks.deliveries(of, { state: 'dead' })).toMatchObject([{ delivery: id, tries: 10 }]);
  expect(await s.recoup.webhooks.replay({ endpoint: of, dead: true })).toEqual({ replayed: 1 });
  expect(await s.recoup.webhooks.replay({ endpoint: of, dead: true })).toEqual({ replayed: 0 });
  const [again] = await s.recoup.webhooks.lease(of);
  expect(again).toMatchObject({ id, attempt: 11, tries: 1 });
  await s.recoup.webhooks.report({ id, attempt: 11, delivered: true });
  expect(await s.recoup.webhooks.replay({ endpoint: of, delivery: id })).toEqual({ replayed: 1 });
  expect(await s.recoup.webhooks.lease(of)).toMatchObject([{ id, attempt: 12 }]);
});

onEvery('an endpoint may ask for more time, but not for less, and for a day at most', async (s) => {
  const of = await endpointOf(s, ['job.dead']);
  await dead(s);
  await told(s, of, 1);
  await s.stopClock();
  await s.db.advance(1);
  expect((await failing(s, of, { retryAfterMs: 0 })).after).toBeGreaterThanOrEqual(4.9);
  expect((await failing(s, of, { retryAfterMs: 3_600_000 })).after).toBeCloseTo(3600, 1);
  expect((await failing(s, of, { retryAfterMs: 30 * 86_400_000 })).after).toBeCloseTo(86_400, 1);
});

onEvery('410 switches an endpoint off; switched on, it is told of what happened meanwhile, or not', async (s) => {
  const of = await endpointOf(s, ['job.dead']);
  await dead(s);
  await told(s, of, 1);
  expect(await failing(s, of, { gone: true, status: 410 })).toMatchObject({ outcome: 'gone' });
  expect(await s.recoup.webhooks.get(of)).toMatchObject({ status: 'gone', pending: 1 });
  expect(await s.recoup.webhooks.lease(of)).toEqual([]);
  expect(await s.recoup.webhooks.due()).not.toContain(of);
  await dead(s);
  await s.recoup.webhooks.dispatch();
  expect(await s.recoup.webhooks.deliveries(of)).toHaveLength(1);
  expect(await s.recoup.webhooks.change({ endpoint: of, status: 'on' })).toEqual({ outcome: 'changed' });
  expect(await told(s, of, 2)).toHaveLength(2);
  await s.recoup.webhooks.change({ endpoint: of, status: 'off' });
  await dead(s);
  await settled(s);
  await s.recoup.webhooks.change({ endpoint: of, status: 'on', skip: true });
  expect(await s.recoup.webhooks.get(of)).toMatchObject({ status: 'on', pending: 0 });
  const { wallet } = await dead(s);
  const deliveries = await told(s, of, 1);
  expect(deliveries.map(({ payload }) => payload.data.wallet)).toEqual([wallet]);
});

onEvery('replay since an instant sends what was delivered once more, page by page, with the same ids', async (s) => {
  const of = await endpointOf(s, ['job.succeeded']);
  const jobs = await Promise.all(times(30, () => s.external(0)));
  await s.recoup.jobs.succeedMany(jobs.slice(0, 10));
  await s.db.advance(10_000);
  const since = await s.db.now();
  await s.recoup.jobs.succeedMany(jobs.slice(10));
  await told(s, of, 30);
  const deliver = async (): Promise<string[]> => {
    const taken = await s.recoup.webhooks.lease(of, 100);
    for (const { id, attempt } of taken) await s.recoup.webhooks.report({ id, attempt, delivered: true });
    return taken.map(({ id }) => id).sort();
  };
  const ids = await deliver();
  expect(ids).toHaveLength(30);
  expect(await s.recoup.webhooks.replay({ endpoint: of, since })).toEqual({ replayed: 20 });
  const again = await deliver();
  expect(ids).toEqual(expect.arrayContaining(again));
  expect(again).toHaveLength(20);
  const pages: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await s.recoup.webhooks.deliveries(of, { limit: 7, ...(after ? { after } : {}) });
    pages.push(...page.map(({ delivery }) => delivery));
    if (page.length < 7) break;
    after = page.at(-1)!.delivery;
  }
  expect(pages.sort()).toEqual(ids);
});

onEvery('secrets: shown once, rotated with both signing for a while, never in a list', async (s) => {
  const name = newId('endpoint');
  const input = { endpoint: name, url: URL, kinds: ['job.dead'] as const };
  const { outcome, secret } = await s.recoup.webhooks.register(input);
  expect(outcome).toBe('registered');
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await s.recoup.webhooks.register(input)).toEqual({ outcome: 'duplicate', secret: null });
  expect((await refusal(s.recoup.webhooks.register({ ...input, url: 'https://other.example/' }))).code).toBe(
    'conflict',
  );
  const secretsNow = async () => {
    await s.recoup.webhooks.test({ endpoint: name });
    return (await s.recoup.webhooks.lease(name)).at(-1)!.secrets;
  };
  expect(await secretsNow()).toEqual([secret]);
  const own = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  expect(await s.recoup.webhooks.rotate({ endpoint: name, secret: own, keepMs: 1000 })).toEqual({
    outcome: 'rotated',
    secret: own,
  });
  expect(await secretsNow()).toEqual([own, secret]);
  await s.db.advance(1001);
  expect(await secretsNow()).toEqual([own]);
  expect(JSON.stringify(await s.recoup.webhooks.list())).not.toContain(own.slice(6));
});

onEvery('a test is a delivery; with a key it is there once; a removed endpoint leaves nothing', async (s) => {
  const of = await endpointOf(s, ['job.dead']);
  const sent = await s.recoup.webhooks.test({ endpoint: of, key: 'k' });
  expect(sent.outcome).toBe('sent');
  expect(await s.recoup.webhooks.test({ endpoint: of, key: 'k' })).toEqual({ ...sent, outcome: 'duplicate' });
  expect(await s.recoup.webhooks.lease(of)).toMatchObject([{ id: sent.delivery, kind: 'endpoint.test' }]);
  expect(await s.recoup.webhooks.remove(of)).toEqual({ outcome: 'removed' });
  expect(await s.recoup.webhooks.remove(of)).toEqual({ outcome: 'duplicate' });
  for (const table of ['webhook_secrets', 'webhook_deliveries'])
    expect(await s.db.query(`select from recoup.${table} where endpoint_id = $1`, [of])).toEqual([]);
  expect((await refusal(s.recoup.webhooks.delivery(sent.delivery))).code).toBe('no_delivery');
  for (const call of [
    (r: Recoup) => r.webhooks.get(of),
    (r: Recoup) => r.webhooks.change({ endpoint: of, status: 'off' }),
    (r: Recoup) => r.webhooks.rotate({ endpoint: of }),
    (r: Recoup) => r.webhooks.test({ endpoint: of }),
    (r: Recoup) => r.webhooks.replay({ endpoint: of, dead: true }),
    (r: Recoup) => r.webhooks.deliveries(of),
  ])
    expect((await refusal(call(s.recoup))).code).toBe('no_endpoint');
});

onEvery('what ended long ago is forgotten by the sweep, dead letters later', async (s) => {
  const of = await endpointOf(s, ['job.dead']);
  for (const key of ['a', 'b', 'c']) await s.recoup.webhooks.test({ endpoint: of, key });
  const [one, two] = await s.recoup.webhooks.lease(of);
  await s.recoup.webhooks.report({ id: one!.id, attempt: 1, delivered: true });
  await s.db.query(
    `update recoup.webhook_deliveries set state = 'dead', due_at = null, ended_at = recoup.clock() where id = $1`,
    [two!.id],
  );
  const left = async () => kindsOf(await s.recoup.webhooks.deliveries(of)).length;
  await s.recoup.sweep();
  expect(await left()).toBe(3);
  await s.db.advance(31 * 86_400_000);
  await s.recoup.sweep();
  expect(await left()).toBe(2);
  await s.db.advance(60 * 86_400_000);
  await s.recoup.sweep();
  expect(await left()).toBe(1);
});

onEvery('after all of it the books are right', booksAreRight);
