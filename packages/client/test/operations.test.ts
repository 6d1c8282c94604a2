// Every operation of the service through the client, on a real server and database; pages and streams.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { operations } from '../../server/src/operations/operations.ts';
import { type components, type FeedItem, OPERATIONS, type RecoupClient } from '../src/index.ts';
import { callCapacity } from './support/capacity.ts';
import { endpointsAndAlerts } from './support/endpoints.ts';
import { collect, newId, Stand } from './support/stand.ts';
import { plansAndSubscriptions } from './support/subscriptions.ts';

const SECRET = 'whsec_c2VjcmV0IG9mIGEgc2VuZGVyIG9mIG91cnM=';
let stand: Stand;
let client: RecoupClient;
beforeAll(async () => {
  stand = await Stand.start({ webhookSecrets: { generic: [SECRET] }, paymentSecrets: { generic: [SECRET] } });
  client = stand.client;
});
afterAll(async () => {
  expect(await stand.close()).toEqual([]);
});

test('the table of operations is the list of the service', () => {
  expect(Object.keys(OPERATIONS).sort()).toEqual(operations.map(({ name }) => name).sort());
  const notRepeatable = Object.entries(OPERATIONS).filter(([, row]) => 'repeatable' in row);
  expect(notRepeatable.map(([name]) => name).sort()).toEqual([
    'deadLetters.redriveAll',
    'epochs.open',
    'keys.create',
    'probes.recheck',
    'webhookEndpoints.register',
    'webhookEndpoints.rotate',
  ]);
});

describe('every operation', () => {
  test('wallets', async () => {
    const wallet = newId('a/wallet ä');
    expect(await client.wallets.open({ wallet, customer: 'ann', overdraftLimit: 5 })).toEqual({ outcome: 'opened' });
    expect(await client.wallets.change({ wallet, overdraftLimit: 10 })).toEqual({ outcome: 'changed' });
    const granted = await client.wallets.grant({ wallet, key: 'k', amount: 100 });
    expect(granted).toMatchObject({ outcome: 'granted', seq: 1, balance: 100 });
    expect(await client.wallets.grant({ wallet, key: 'k', amount: 100 })).toEqual({ ...granted, outcome: 'duplicate' });
    const { items } = await client.wallets.grantMany({
      items: [
        { wallet, key: 'k2', amount: 7 },
        { wallet: 'nobody', key: 'k', amount: 1 },
      ],
    });
    expect(items).toMatchObject([{ outcome: 'granted' }, { code: 'no_wallet' }]);
    expect(await client.wallets.adjust({ wallet, key: 'a', amount: -3 })).toMatchObject({ balance: 104 });
    const balance = await client.wallets.balance({ wallet });
    expect(balance).toMatchObject({ booked: 104, spendable: 114, customer: 'ann' });
    expectTypeOf(balance.booked).toEqualTypeOf<number>();
    expect(await client.wallets.balance({ wallet, at: '2001-01-01T00:00:00Z' })).toMatchObject({ booked: 0 });
    const page = await client.wallets.entries({ wallet, limit: 2 });
    expect(page).toMatchObject({ entries: [{ seq: 1 }, { seq: 2 }], cursor: 2 });
    const all = await collect(client.wallets.entries.each({ wallet, limit: 2 }));
    expect(all.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    const back = await collect(client.wallets.entries.each({ wallet, limit: 1, newestFirst: true }));
    expect(back.map(({ seq }) => seq)).toEqual([3, 2, 1]);
    expectTypeOf(all).toEqualTypeOf<components['schemas']['Entry'][]>();
    expect(await collect(client.wallets.replay({ wallet, afterSeq: 1 }))).toEqual(all.slice(1));
  });

  test('jobs, signals, workers', async () => {
    const { wallet, job, queue, attempt } = await stand.running();
    const key = { wallet, job, attempt };
    const ref = newId('ref');
    expect(await client.jobs.extend({ ...key, leaseMs: 60_000 })).toMatchObject({ outcome: 'extended' });
    expect(await client.jobs.release({ ...key, delayMs: 0 })).toMatchObject({ outcome: 'released' });
    const lease = { queue, requestId: newId('request') };
    const { jobs } = await client.queues.lease(lease);
    expect(jobs).toMatchObject([{ job: { id: job, attempt: 2 }, payload: null }]);
    expect(await client.queues.lease(lease)).toEqual({ jobs, out: null });
    expect(await client.jobs.handOver({ ...key, attempt: 2, upstreamRef: ref })).toMatchObject({
      outcome: 'handed_over',
    });
    expect(await client.jobs.byUpstreamRef({ upstreamRef: ref })).toMatchObject({ jobs: [{ job: { id: job } }] });
    expect(await client.callbacks.sign({ wallet, job, provider: 'runpod' })).toMatchObject({ url: null });
    expect(await client.upstreamRefs.fail({ upstreamRef: ref })).toMatchObject({ outcome: 'retrying', refunded: true });
    expect(await client.jobs.fail({ ...key, attempt: 2 })).toMatchObject({ outcome: 'duplicate' });
    expect(await client.upstreamRefs.succeed({ upstreamRef: ref, result: 1 })).toMatchObject({ outcome: 'reclaimed' });
    expect(await client.jobs.succeed(key)).toMatchObject({ outcome: 'duplicate', reclaimed: true });
    expect(await client.jobs.settle({ wallet, job, finalPrice: 25 })).toMatchObject({ outcome: 'settled', amount: 15 });
    expect(await client.jobs.cancel({ wallet, job })).toMatchObject({ outcome: 'succeeded' });
    const got = await client.jobs.get({ wallet, job });
    expectTypeOf(got.job.state).toEqualTypeOf<components['schemas']['Job']['state']>();
    expect(got).toMatchObject({ job: { state: 'succeeded', finalPrice: 25 }, result: 1 });
    expect((await client.jobs.attempts({ wallet, job })).attempts).toHaveLength(3);
    expect((await client.jobs.entries({ wallet, job })).entries.map(({ type }) => type)).toEqual([
      'charge',
      'refund',
      'reclaim',
      'settle',
    ]);
    const { items } = await client.jobs.submitMany({
      items: [
        { wallet, job: 'x', queue: null, price: 1 },
        { wallet, job: 'y', queue: null, price: 1000 },
      ],
    });
    expect(items).toMatchObject([{ outcome: 'charged' }, { code: 'insufficient_credits' }]);
    expect(await client.jobs.failMany({ items: [key] })).toMatchObject({ items: [{ outcome: 'succeeded' }] });
    expect(await client.jobs.succeedMany({ items: [key] })).toMatchObject({ items: [{ outcome: 'duplicate' }] });
  });

  test('dead letters', async () => {
    const wallet = await stand.wallet();
    const queue = newId('queue');
    await client.queues.configure({ queue, maxFailures: 1 });
    for (const job of ['a', 'b', 'c', 'd']) await client.jobs.submit({ wallet, job, queue, price: 10 });
    await client.queues.lease({ queue, count: 4 });
    for (const job of ['a', 'b', 'c', 'd']) await client.jobs.fail({ wallet, job, attempt: 1, reason: 'broken' });
    expect(await client.deadLetters.list({ wallet, limit: 3 })).toMatchObject({ jobs: [{}, {}, {}] });
    const all = await collect(client.deadLetters.list.each({ wallet, limit: 3 }));
    expect(all.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(await client.deadLetters.discard({ wallet, job: 'a' })).toEqual({ outcome: 'discarded' });
    expect(await client.deadLetters.redrive({ wallet, job: 'b' })).toEqual({ outcome: 'redriven' });
    const { count, asOf } = await client.deadLetters.preview({ wallet });
    expect(count).toBe(2);
    const progress = await collect(client.deadLetters.redriveAll({ wallet, asOf, confirm: 2 }));
    expect(progress.at(-1)).toEqual({ done: 2, of: 2, ended: true, redriven: 2, skipped: 0 });
    await expect(collect(client.deadLetters.redriveAll({ wallet, asOf, confirm: 2 }))).rejects.toMatchObject({
      code: 'count_changed',
      details: { count: 0, confirm: 2 },
    });
  });

  test('upstreams, blocks, pools', () => callCapacity(client));

  test('queues, keys, the whole', async () => {
    const { queue } = await stand.queued();
    expect(await client.queues.get({ queue })).toMatchObject({ maxFailures: 5 });
    expect((await client.queues.list()).queues.find((one) => one.queue === queue)).toMatchObject({ ready: 1 });
    const { key, secret } = await client.keys.create({ name: 'test', scopes: ['app'] });
    expect(secret.startsWith(key.prefix)).toBe(true);
    expect((await client.keys.list()).keys).toContainEqual(key);
    expect(await client.keys.revoke({ key: key.id })).toMatchObject({ outcome: 'revoked' });
    expect(await client.system.verify()).toMatchObject({ ok: true });
  });

  test('webhooks of a sender of one’s own', async () => {
    const { wallet, job, attempt } = await stand.running();
    const upstreamRef = newId('ref');
    await client.jobs.handOver({ wallet, job, attempt, upstreamRef });
    const body = JSON.stringify({ upstreamRef, status: 'succeeded', result: 'ä' });
    const now = new Date();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign('msg_1', now, body),
    };
    const taken = await client.webhooks.take({ provider: 'generic', body }, { headers });
    expect(taken).toMatchObject({ outcome: 'succeeded', wallet, job });
    await expect(client.webhooks.take({ provider: 'generic', body: { status: 'x' } })).rejects.toMatchObject({
      code: 'bad_signature',
      status: 401,
    });
    const { path } = await client.callbacks.sign({ wallet, job, provider: 'runpod' });
    const token = decodeURIComponent(path.split('/').at(-1)!);
    const signed = { provider: 'runpod' as const, token, body: { id: 'r', status: 'COMPLETED', output: 1 } };
    expect(await client.webhooks.takeSigned(signed)).toMatchObject({ outcome: 'duplicate' });
  });

  test('webhook endpoints, deliveries, alerts', () => endpointsAndAlerts(client));

  test('plans and subscriptions', () => plansAndSubscriptions(client, SECRET));

  test('the feed, pulled and streamed: the same events in the same order, from any cursor', async () => {
    const wallet = await stand.wallet();
    const pulled = async () =>
      (await collect(client.feed.read.each({ limit: 5 }))).map((event) => JSON.stringify(event));
    // Final is what lies below the oldest write anywhere on the server: other tests may hold it back for a while.
    while (!(await pulled()).some((event) => event.includes(`"${wallet}"`)))
      await new Promise((done) => setTimeout(done, 20));
    const known = await pulled();
    expect((await client.feed.read({ limit: 2 })).events).toHaveLength(2);
    const streamed: FeedItem[] = [];
    for await (const item of client.feed.stream()) {
      streamed.push(item);
      if (streamed.length === known.length) break;
    }
    expect(streamed.map(({ event }) => JSON.stringify(event))).toEqual(known);
    for await (const { event } of client.feed.stream({ cursor: streamed[3]!.cursor })) {
      expect(JSON.stringify(event)).toBe(known[4]);
      break;
    }
  });

  test('for other books: batches, balances of many, remainders, the ledger, jobs of a wallet, prune', async () => {
    const [wallet, customer] = [newId('books'), newId('customer')];
    const opened = await client.wallets.openMany({ items: [{ wallet, customer }] });
    expect(opened.items).toEqual([{ outcome: 'opened' }]);
    const adjusted = await client.wallets.adjustMany({ items: [{ wallet, key: 'opening', amount: 9 }] });
    expect(adjusted.items).toMatchObject([{ outcome: 'adjusted', balance: 9 }]);
    expect((await client.wallets.balances({ wallets: [wallet] })).items).toMatchObject([{ booked: 9 }]);
    expect(await client.wallets.list({ customer })).toMatchObject({ wallets: [{ wallet, booked: 9 }], cursor: null });
    expect(await collect(client.wallets.list.each({ customer, limit: 1 }))).toMatchObject([{ wallet }]);
    expect((await client.wallets.remainders({ customer })).remainders).toMatchObject([{ remaining: 9 }]);
    const ledger = await collect(client.feed.entries.each({ wallet, limit: 1 }));
    expect(ledger).toMatchObject([{ customer, amount: 9 }]);
    expect(await client.feed.entries({ wallet, from: '2999-01-01T00:00:00Z' })).toMatchObject({ entries: [] });
    await client.jobs.submit({ wallet, job: 'j', queue: null, price: 4 });
    for (const job of ['k', 'l']) await client.jobs.submit({ wallet, job, queue: null, price: 0 });
    await client.jobs.cancel({ wallet, job: 'j' });
    // Pages of a filter that are empty do not end the walk.
    expect(await client.jobs.list({ wallet, state: 'canceled', limit: 1 })).toMatchObject({ jobs: [{ id: 'j' }] });
    expect((await collect(client.jobs.list.each({ wallet, limit: 1 }))).map(({ id }) => id)).toEqual(['l', 'k', 'j']);
    expect(await client.jobs.prune({ olderThanMs: 3_600_000, dryRun: true })).toMatchObject({ prunable: 0 });
  });

  // Last: cursors of before are refused from here on.
  test('epochs and the service itself', async () => {
    expect(await client.epochs.open({ reason: 'restored' })).toMatchObject({ number: 1, reason: 'restored' });
    expect((await client.epochs.list()).epochs).toHaveLength(2);
    expect(await client.system.info()).toMatchObject({ epoch: { number: 1 } });
  });

  test('was called', () => {
    expect(operations.map(({ name }) => name).filter((name) => !stand.called.has(name))).toEqual([]);
  });
});
