// Calls whose answer is lost: sent again, done once, and answered as the first time; and what is never sent again by itself.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CuttingProxy } from '../../recoup/test/support/proxy.ts';
import { untilWaiting } from '../../recoup/test/support/waiting.ts';
import { Api } from '../../server/test/support/api.ts';
import { type FeedItem, RecoupClient } from '../src/index.ts';
import { collect, newId, Stand } from './support/stand.ts';

let stand: Stand;
beforeAll(async () => {
  stand = await Stand.start();
});
afterAll(async () => {
  expect(await stand.close()).toEqual([]);
});

test.each(['request', 'answer'] as const)(
  'one charge and the same answer where the %s is cut off, also three times',
  async (cut) => {
    const { far, proxy, client } = stand;
    const wallet = await stand.wallet();
    const submit = { wallet, job: 'j', queue: null, price: 40 };
    proxy.cutNext(`PUT /v1/wallets/${wallet}/jobs/j `, cut, 3);
    const before = proxy.cut;
    const answered = await far.jobs.submit(submit);
    expect(proxy.cut - before).toBe(3);
    expect(answered).toMatchObject({ outcome: cut === 'answer' ? 'duplicate' : 'charged', seq: 2, balance: 60 });
    expect(await client.jobs.submit(submit)).toEqual({ ...answered, outcome: 'duplicate' });
    expect(await stand.ledger(wallet)).toEqual(['charge -40']);
  },
);

test('every kind of write, its answer cut off: the books say it once', async () => {
  const { far, proxy } = stand;
  const wallet = newId('wallet');
  const queue = newId('queue');
  const at = `/v1/wallets/${wallet}`;
  const lost = <T>(line: string, call: () => Promise<T>): Promise<T> => {
    proxy.cutNext(`${line} `, 'answer');
    return call();
  };
  const before = proxy.cut;
  await lost(`PUT ${at}`, () => far.wallets.open({ wallet, customer: 'ann' }));
  await lost(`PUT ${at}/grants/g`, () => far.wallets.grant({ wallet, key: 'g', amount: 100 }));
  await lost(`PUT ${at}/adjusts/a`, () => far.wallets.adjust({ wallet, key: 'a', amount: -10 }));
  await lost(`PUT ${at}/jobs/j`, () => far.jobs.submit({ wallet, job: 'j', queue, price: 40 }));
  const { jobs } = await lost(`POST /v1/queues/${queue}/leases`, () => far.queues.lease({ queue }));
  // The repeat brought what the first answer would have: one attempt, not two.
  expect(jobs).toMatchObject([{ job: { id: 'j', attempt: 1 } }]);
  const key = { wallet, job: 'j', attempt: 1 };
  await lost(`POST ${at}/jobs/j/extend`, () => far.jobs.extend(key));
  await lost(`POST ${at}/jobs/j/fail`, () => far.jobs.fail(key));
  await lost(`POST ${at}/jobs/j/succeed`, () => far.jobs.succeed({ ...key, finalPrice: 30 }));
  expect(proxy.cut - before).toBe(8);
  const { entries } = await far.wallets.entries({ wallet });
  expect(entries.map(({ type, amount }) => `${type} ${amount}`)).toEqual([
    'grant 100',
    'adjust -10',
    'charge -40',
    'refund 40',
    'reclaim -40',
    'settle 10',
  ]);
});

test('a key is not made twice: the lost answer is told', async () => {
  const { far, proxy, client } = stand;
  proxy.cutNext('POST /v1/keys ', 'answer');
  const name = newId('key');
  await expect(far.keys.create({ name, scopes: ['app'] })).rejects.toMatchObject({ code: 'unreachable', status: 0 });
  const { keys } = await client.keys.list();
  expect(keys.filter((key) => key.name === name)).toHaveLength(1);
});

test('one try where that was asked for', async () => {
  const { far, proxy } = stand;
  const wallet = newId('wallet');
  proxy.cutNext(`PUT /v1/wallets/${wallet} `, 'request');
  await expect(far.wallets.open({ wallet, customer: 'ann' }, { repeat: false })).rejects.toMatchObject({
    code: 'unreachable',
    retryable: true,
  });
  await expect(far.wallets.balance({ wallet })).rejects.toMatchObject({ code: 'no_wallet' });
});

test('a service that is killed while it waits for the wallet, and another one at its address', async () => {
  const { db } = stand.api;
  const first = await Api.replica(db);
  const proxy = await CuttingProxy.before(first.url);
  const client = new RecoupClient({ url: proxy.url });
  const wallet = await stand.wallet();
  const holder = new pg.Client({ connectionString: db.url });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from recoup.wallets where id = $1 for update', [wallet]);
  const submitted = client.jobs.submit({ wallet, job: 'j', queue: null, price: 40 });
  await untilWaiting(db);
  const second = await Api.replica(db);
  proxy.moveTo(second.url);
  proxy.down();
  proxy.up();
  await holder.query('commit');
  expect(await submitted).toMatchObject({ balance: 60 });
  expect(await stand.ledger(wallet)).toEqual(['charge -40']);
  await holder.end();
  await proxy.close();
  await first.close();
  await second.close();
});

test('a database that is gone for a while: 503, and done when it is back', async () => {
  const database = await CuttingProxy.before(stand.api.db.url);
  const service = await Api.replica({ url: database.url });
  const client = new RecoupClient({ url: service.url });
  const wallet = await stand.wallet();
  database.down();
  const refused = await client.wallets.balance({ wallet }, { repeat: false }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'database_unavailable', status: 503, retryable: true, retryAfterMs: 1000 });
  const submitted = client.jobs.submit({ wallet, job: 'j', queue: null, price: 40 });
  await sleep(100);
  database.up();
  expect((await submitted).balance).toBe(60);
  expect(await stand.ledger(wallet)).toEqual(['charge -40']);
  await service.close();
  await database.close();
});

test('too many that wait: repeated after Retry-After, whatever it is', async () => {
  const service = await Api.replica(stand.api.db, { maxWaiting: 1 });
  const client = new RecoupClient({ url: service.url });
  const first = new AbortController();
  const poll = client.queues.lease({ queue: newId('queue'), waitMs: 60_000 }, { signal: first.signal });
  await expect
    .poll(() => client.queues.lease({ queue: 'any', waitMs: 0 }, { repeat: false }).catch(({ code }) => code))
    .toBe('rate_limited');
  const redriven = collect(client.deadLetters.redriveAll({ wallet: 'nobody', confirm: 0 }));
  first.abort(new Error('enough'));
  await expect(poll).rejects.toThrow('enough');
  expect((await redriven).at(-1)).toMatchObject({ ended: true });
  await service.close();
});

test('the deadline bounds a call with all its repeats, a signal ends it at once', async () => {
  const { far, proxy } = stand;
  proxy.down();
  const started = performance.now();
  await expect(far.queues.get({ queue: 'q' }, { deadlineMs: 300 })).rejects.toMatchObject({ code: 'unreachable' });
  expect(performance.now() - started).toBeLessThan(20_000);
  const stop = new AbortController();
  const call = far.queues.get({ queue: 'q' }, { signal: stop.signal });
  const stream = far.feed.stream({}, { signal: stop.signal }).next();
  await sleep(20);
  stop.abort(new Error('the page was closed'));
  await expect(call).rejects.toThrow('the page was closed');
  await expect(stream).rejects.toThrow('the page was closed');
  await expect(far.queues.get({ queue: 'q' }, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow(
    'before',
  );
  proxy.up();
});

test('a stream of the feed that is cut again and again misses nothing and tells nothing twice', async () => {
  const service = await Api.replica(stand.api.db, { server: { maxStreamMs: 50 } });
  const proxy = await CuttingProxy.before(service.url);
  const client = new RecoupClient({ url: proxy.url });
  const wallet = await stand.wallet();
  for (let n = 1; n <= 20; n++) await stand.client.wallets.grant({ wallet, key: `k${n}`, amount: n });
  const seen: FeedItem[] = [];
  for await (const item of client.feed.stream()) {
    seen.push(item);
    // Cut off by the network, or ended by the service after 50 ms.
    if (seen.length % 7 === 0) {
      proxy.down();
      proxy.up();
    }
    if (item.event.wallet === wallet && item.event.kind === 'entry' && item.event.seq === 21) break;
  }
  const all = await collect(stand.client.feed.read.each());
  expect(seen.map(({ event }) => event)).toEqual(all.slice(0, seen.length));
  await proxy.close();
  await service.close();
});

test('a replay that is cut off goes on behind the last entry', async () => {
  const wallet = await stand.wallet();
  const items = Array.from({ length: 1000 }, (_, n) => ({ wallet, key: `k${n}`, amount: 1, reason: 'x'.repeat(200) }));
  for (let round = 0; round < 3; round++)
    await stand.client.wallets.grantMany({ items: items.map((item) => ({ ...item, key: `${round}${item.key}` })) });
  const seqs: number[] = [];
  for await (const { seq } of stand.far.wallets.replay({ wallet })) {
    seqs.push(seq);
    if (seqs.length === 10 || seqs.length === 2000) {
      stand.proxy.down();
      stand.proxy.up();
    }
  }
  expect(seqs.every((seq, n) => seq === n + 1)).toBe(true);
  expect(seqs).toHaveLength(3001);
});

test('a replay that the service cuts off when it stops does not look like a whole one', async () => {
  const wallet = await stand.wallet();
  const items = Array.from({ length: 1000 }, (_, n) => ({ wallet, key: `k${n}`, amount: 1, note: 'x'.repeat(9000) }));
  await stand.client.wallets.grantMany({ items });
  const first = await Api.replica(stand.api.db);
  const proxy = await CuttingProxy.before(first.url);
  const client = new RecoupClient({ url: proxy.url });
  const seqs: number[] = [];
  for await (const { seq } of client.wallets.replay({ wallet })) {
    seqs.push(seq);
    if (seqs.length !== 1) continue;
    proxy.moveTo(stand.api.service.url);
    await first.close();
  }
  expect(seqs).toEqual(Array.from({ length: 1001 }, (_, n) => n + 1));
  await proxy.close();
});
