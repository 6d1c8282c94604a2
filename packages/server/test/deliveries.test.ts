// Webhooks out, to real receivers: signed, sent again after failures, by whichever replica lives, to no private address.
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import type { Service, ServiceOptions } from '../src/service.ts';
import { Api, newId } from './support/api.ts';
import { isSigned, Receiver } from './support/receiver.ts';
import { startServer } from './support/server-process.ts';

let db: TestDatabase;
let receiver: Receiver;
/** Serves and sends nothing: what is due stays until a sender is started. */
let service: Service;
let api: Api;
const errors: Error[] = [];

beforeAll(async () => {
  db = await testDatabase(inject('servers')[0]!.url);
  receiver = await Receiver.start();
  service = await Api.replica(db);
  api = Api.over(service);
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = (_, response) => void response.writeHead(204).end();
});
afterAll(async () => {
  await service.close();
  await receiver.close();
  await db.drop();
  expect(errors).toEqual([]);
});

const sending = (options: Partial<ServiceOptions> = {}): Promise<Service> => {
  const open = { connection: db.url, sweep: true, pollMs: 20, onError: (error: Error) => void errors.push(error) };
  return Api.replica(db, { webhooksToPrivate: true, ...options, open });
};

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((done) => setTimeout(done, 20));
}

/** An endpoint at the receiver; nothing else is on. */
async function endpoint(more: object = {}): Promise<{ of: string; secret: string }> {
  for (const one of await service.recoup.webhooks.list()) await service.recoup.webhooks.remove(one.endpoint);
  const of = newId('endpoint');
  const input = { endpoint: of, url: receiver.url, kinds: ['job.dead', 'job.succeeded'], ...more };
  return { of, secret: (await api.call('webhookEndpoints.register', input)).secret };
}

const one = async (of: string) => (await api.call('webhookDeliveries.list', { endpoint: of })).deliveries[0];
/** The one delivery of an endpoint, once another try of it is over than the one that was seen. */
async function tried(of: string, seen: { lastAt: string | null } = { lastAt: null }) {
  await until(async () => (await one(of)).lastAt !== seen.lastAt);
  return one(of);
}
const testOf = async (of: string): Promise<string> =>
  (await api.call('webhookEndpoints.test', { endpoint: of })).delivery;

test('every operation on endpoints and alerts answers over HTTP, and refuses what is not there', async () => {
  const { of, secret } = await endpoint({ status: 'off' });
  expect(secret).toMatch(/^whsec_/);
  const again = { endpoint: of, url: receiver.url, kinds: ['job.succeeded', 'job.dead', 'job.dead'] };
  expect(await api.call('webhookEndpoints.register', again)).toEqual({ outcome: 'duplicate', secret: null });
  await api.refused('webhookEndpoints.register', 'conflict', { ...again, kinds: ['job.dead'] });
  for (const [field, value] of Object.entries({ url: 'ftp://x', kinds: [], secret: 'whsec_', lowBalance: 0.5 }))
    await api.refused('webhookEndpoints.register', 'invalid', { ...again, [field]: value });
  const own = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  expect(await api.call('webhookEndpoints.rotate', { endpoint: of, secret: own })).toEqual({
    outcome: 'rotated',
    secret: own,
  });
  const sent = await api.call('webhookEndpoints.test', { endpoint: of, key: 'k' });
  expect(await api.call('webhookEndpoints.test', { endpoint: of, key: 'k' })).toEqual({
    ...sent,
    outcome: 'duplicate',
  });
  await api.call('webhookEndpoints.test', { endpoint: of });
  const first = await api.call('webhookDeliveries.list', {
    endpoint: of,
    state: 'pending',
    limit: 1,
  });
  const second = await api.call('webhookDeliveries.list', { endpoint: of, cursor: first.cursor });
  expect(
    [first, second].flatMap(({ deliveries }) => deliveries.map((one: { delivery: string }) => one.delivery)),
  ).toContain(sent.delivery);
  expect(second).toMatchObject({ deliveries: [{}], cursor: null });
  await api.refused('webhookEndpoints.replay', 'no_delivery', { endpoint: of, delivery: 'msg_none' });
  await api.refused('webhookEndpoints.replay', 'invalid', { endpoint: of });
  expect(await api.call('webhookEndpoints.replay', { endpoint: of, since: '2020-01-01T00:00:00Z' })).toEqual({
    replayed: 0,
  });
  expect((await api.call('webhookEndpoints.list')).endpoints).toMatchObject([
    { endpoint: of, status: 'off', pending: 2 },
  ]);
  expect(JSON.stringify(await api.call('webhookEndpoints.get', { endpoint: of }))).not.toContain('whsec');
  await api.call('webhookEndpoints.change', { endpoint: of, lowBalance: 7, kinds: ['wallet.low'] });
  expect(await api.call('alerts.list', { kind: 'idle', recovered: true, limit: 5 })).toEqual({ alerts: [] });
  const { body } = await api.send('GET', '/metrics');
  expect(body).toMatch(/^recoup_alerts_firing\{kind="exhausted"\} 0$/m);
  expect(body).toMatch(/^recoup_webhook_deliveries\{state="pending"\} 2$/m);
  expect(await api.call('webhookEndpoints.remove', { endpoint: of })).toEqual({ outcome: 'removed' });
  await api.refused('webhookDeliveries.get', 'no_delivery', { delivery: sent.delivery });
  for (const name of ['get', 'change', 'rotate', 'test', 'replay'])
    await api.refused(`webhookEndpoints.${name}`, 'no_endpoint', {
      endpoint: of,
      ...(name === 'replay' ? { dead: true } : {}),
    });
});

test('two replicas deliver each event once, signed, while nothing fails', async () => {
  const { of, secret } = await endpoint();
  await using _one = await sending();
  await using _two = await sending();
  const dead = [await api.dead(), await api.dead()];
  const { wallet, job, attempt } = await api.running();
  await api.call('jobs.succeed', { wallet, job, attempt });
  await until(
    async () =>
      (await api.call('webhookEndpoints.get', { endpoint: of })).pending === 0 && receiver.received.length >= 3,
  );
  expect(receiver.kinds).toEqual(['job.dead', 'job.dead', 'job.succeeded']);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(3);
  for (const received of receiver.received) {
    expect(isSigned(received, secret)).toBe(true);
    expect(isSigned({ ...received, body: `${received.body} ` }, secret)).toBe(false);
    expect(received.headers['content-type']).toBe('application/json');
    const { delivery, state, payload, lastStatus } = await api.call('webhookDeliveries.get', { delivery: received.id });
    expect([delivery, state, lastStatus]).toEqual([received.id, 'delivered', 204]);
    expect(JSON.parse(received.body)).toEqual(payload);
  }
  const bodies = receiver.received.map(({ body }) => JSON.parse(body).data.job);
  expect(bodies).toEqual(expect.arrayContaining([job, ...dead.map((letter) => letter.job)]));
});

test('what fails comes again with the same id, body and a signature of its own; Retry-After is obeyed', async () => {
  const { of, secret } = await endpoint();
  const id = await testOf(of);
  receiver.answer = (_, response) =>
    void response.writeHead(503, { 'retry-after': '3600' }).end('not <now>\n'.repeat(1000));
  await using _sender = await sending();
  const first = await tried(of);
  expect(first).toMatchObject({ state: 'pending', lastStatus: 503, attempt: 1 });
  expect(first.lastError).toMatch(/^status 503: not <now> not <now>/);
  expect(first.lastError.length).toBeLessThan(300);
  const wait = new Date(first.dueAt).getTime() - new Date(first.lastAt).getTime();
  expect(wait).toBe(3_600_000);
  receiver.answer = (_, response) => void response.writeHead(200).end();
  await db.advance(3_600_001);
  await until(async () => (await one(of)).state === 'delivered');
  expect(receiver.received.map((received) => received.id)).toEqual([id, id]);
  const [before, after] = receiver.received;
  expect(after!.body).toBe(before!.body);
  expect(receiver.received.every((received) => isSigned(received, secret))).toBe(true);
});

test('a redirect is not followed, and a receiver that says nothing has its time', async () => {
  const { of } = await endpoint();
  const elsewhere = await Receiver.start();
  receiver.answer = (_, response) => void response.writeHead(307, { location: elsewhere.url }).end();
  await testOf(of);
  {
    await using _sender = await sending({ webhookTimeoutMs: 300 });
    const moved = await tried(of);
    expect(moved).toMatchObject({
      state: 'pending',
      lastStatus: 307,
      lastError: 'status 307, and redirects are not followed',
    });
    receiver.answer = () => {};
    await db.advance(10_000);
    const silent = await tried(of, moved);
    expect(silent).toMatchObject({ state: 'pending', lastStatus: null, lastError: 'no answer within 0.3 s' });
  }
  expect(elsewhere.received).toEqual([]);
  await elsewhere.close();
});

test('a receiver that answers and does not end has its time, and its status counts', async () => {
  const { of } = await endpoint();
  receiver.answer = (_, response) => void response.writeHead(200).write('endless');
  await testOf(of);
  await using _sender = await sending({ webhookTimeoutMs: 300 });
  await until(async () => (await one(of)).state === 'delivered');
});

test('410 switches the endpoint off; nothing is sent until somebody switches it on', async () => {
  const { of } = await endpoint();
  receiver.answer = (_, response) => void response.writeHead(410).end();
  await testOf(of);
  await using _sender = await sending();
  await tried(of);
  expect(await api.call('webhookEndpoints.get', { endpoint: of })).toMatchObject({ status: 'gone', pending: 1 });
  await db.advance(10_000);
  receiver.answer = (_, response) => void response.writeHead(204).end();
  await api.call('webhookEndpoints.change', { endpoint: of, status: 'on' });
  await until(async () => (await one(of)).state === 'delivered');
  expect(receiver.received).toHaveLength(2);
});

test('after ten tries it is dead, and replayed with the same id', async () => {
  const { of } = await endpoint();
  receiver.answer = (_, response) => void response.writeHead(500).end();
  const id = await testOf(of);
  await using _sender = await sending();
  let seen = await tried(of);
  for (let tries = 1; tries < 10; tries++) {
    expect(seen).toMatchObject({ state: 'pending', tries });
    await db.advance(2 * 86_400_000);
    seen = await tried(of, seen);
  }
  expect(seen).toMatchObject({ state: 'dead', tries: 10, dueAt: null });
  receiver.answer = (_, response) => void response.writeHead(204).end();
  expect(await api.call('webhookEndpoints.replay', { endpoint: of, dead: true })).toEqual({ replayed: 1 });
  await until(async () => (await one(of)).state === 'delivered');
  expect(new Set(receiver.received.map((received) => received.id))).toEqual(new Set([id]));
  expect(receiver.received).toHaveLength(11);
});

test('a sender that is killed in the middle leaves nothing behind: another one delivers when its lease is over', async () => {
  const { of, secret } = await endpoint();
  receiver.answer = () => {};
  const id = await testOf(of);
  const argv = ['--webhooks-to-private', '--poll-ms', '20'];
  const killed = await startServer(db.url, { argv });
  await until(() => receiver.received.length === 1);
  killed.signal('SIGKILL');
  await killed.ended;
  receiver.answer = (_, response) => void response.writeHead(204).end();
  await using _sender = await sending();
  // Still leased: nobody sends it yet.
  expect(await one(of)).toMatchObject({ state: 'pending', attempt: 1, lastAt: null });
  await db.advance(60_001);
  await until(async () => (await one(of)).state === 'delivered');
  expect(receiver.received.map((received) => received.id)).toEqual([id, id]);
  expect(isSigned(receiver.received[1]!, secret)).toBe(true);
});

test('private addresses are refused, however they are written, and nothing arrives there', async () => {
  const { port } = new URL(receiver.url);
  const hosts = [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '0x7f.1',
    '2130706433',
    '[::ffff:127.0.0.1]',
    '10.0.0.1',
    '169.254.169.254',
  ];
  await endpoint({ status: 'off' });
  const ends: string[] = [];
  for (const host of hosts) {
    const of = newId('endpoint');
    await api.call('webhookEndpoints.register', { endpoint: of, url: `http://${host}:${port}/`, kinds: ['job.dead'] });
    await testOf(of);
    ends.push(of);
  }
  await using _sender = await sending({ webhooksToPrivate: false });
  for (const of of ends) expect((await tried(of)).lastError).toMatch(/is not a public address$/);
  expect(receiver.received).toEqual([]);
});

test('a name is connected to by the addresses that were looked at', async () => {
  const { of } = await endpoint({ url: receiver.url.replace('127.0.0.1', 'localhost') });
  await testOf(of);
  await using _sender = await sending();
  await until(async () => (await one(of)).state === 'delivered');
  expect(receiver.received[0]!.headers.host).toBe(`localhost:${new URL(receiver.url).port}`);
});

test('a slow endpoint holds up no other', async () => {
  const { of: slow } = await endpoint();
  const other = await Receiver.start();
  const fast = newId('endpoint');
  await api.call('webhookEndpoints.register', { endpoint: fast, url: other.url, kinds: ['job.dead'] });
  receiver.answer = () => {};
  await using _sender = await sending({ webhookTimeoutMs: 2000 });
  for (let i = 0; i < 20; i++) await testOf(slow);
  await until(() => receiver.received.length > 0);
  await testOf(fast);
  await until(() => other.received.length === 1);
  expect((await one(slow)).state).toBe('pending');
  await api.call('webhookEndpoints.change', { endpoint: slow, status: 'off' });
  await other.close();
});
