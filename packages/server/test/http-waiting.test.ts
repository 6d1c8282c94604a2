// What waits over HTTP: long polls that wake, end and give back; streams with resume; a server that closes while they wait.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import type { Service } from '../src/service.ts';
import { Api, type Json, newId } from './support/api.ts';

let api: Api;
/** Another replica on the same database. */
let other: Service;
beforeAll(async () => {
  api = await Api.start({ server: { heartbeatMs: 50 }, maxWaiting: 20 });
  other = await Api.replica(api.db);
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await other.close();
  await api.close();
});

const waiting = () => until(async () => /recoup_http_waiting [1-9]/.test((await api.send('GET', '/metrics')).body));
const idle = () => until(async () => (await api.send('GET', '/metrics')).body.includes('recoup_http_waiting 0'));

/** A request that can be cut off. */
function open(service: Service, method: string, path: string, body = '', headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(service.url);
  const all = body === '' ? headers : { 'content-type': 'application/json', ...headers };
  const request = httpRequest({ hostname, port, method, path, headers: all, agent: false });
  const response = new Promise<IncomingMessage>((done, fail) => request.on('response', done).on('error', fail));
  response.catch(() => {});
  request.end(body);
  return { response, cut: () => request.destroy() };
}

interface Read {
  text: string;
  events: { id: string; event: string; data: Json }[];
  ended: boolean;
}

/** Collects the events of a stream while it runs. */
async function reading(response: Promise<IncomingMessage>): Promise<Read> {
  const read: Read = { text: '', events: [], ended: false };
  const stream = await response;
  stream.setEncoding('utf8').on('data', (chunk) => {
    read.text += chunk;
    const blocks = read.text
      .split('\n\n')
      .slice(0, -1)
      .filter((block) => block.startsWith('id: '));
    read.events = blocks.map((block) => {
      const [, id = '', event = '', data = ''] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? [];
      return { id, event, data: JSON.parse(data) };
    });
  });
  stream.on('end', () => {
    read.ended = true;
  });
  stream.on('error', () => {});
  return read;
}

describe('a long poll', () => {
  test.each(['here', 'on another replica'])('wakes when a job is submitted %s', async (where) => {
    const wallet = await api.wallet();
    const queue = newId('q');
    const started = performance.now();
    const leased = api.call('queues.lease', { queue, waitMs: 60_000 });
    await waiting();
    const target = where === 'here' ? api.service : other;
    await target.recoup.jobs.submit({ wallet, job: 'j', queue, price: 1 });
    expect((await leased).jobs).toMatchObject([{ job: { id: 'j', attempt: 1 } }]);
    // The poll alone would need up to two seconds.
    expect(performance.now() - started).toBeLessThan(1500);
  });

  test('takes what becomes due while it waits', async () => {
    const wallet = await api.wallet();
    const queue = newId('q');
    await api.call('jobs.submit', { wallet, job: 'j', queue, price: 1, delayMs: 300 });
    expect(await api.call('queues.lease', { queue })).toEqual({ jobs: [], out: null });
    expect((await api.call('queues.lease', { queue, waitMs: 20_000 })).jobs).toHaveLength(1);
  });

  test('answers an empty list when its time is over', async () => {
    const started = performance.now();
    expect(await api.call('queues.lease', { queue: newId('q'), waitMs: 250 })).toEqual({ jobs: [], out: null });
    expect(performance.now() - started).toBeGreaterThan(200);
  });

  test('many wait on one queue: every job goes to one of them', async () => {
    const wallet = await api.wallet();
    const queue = newId('q');
    const polls = Array.from({ length: 15 }, () => api.call('queues.lease', { queue, waitMs: 30_000 }));
    await waiting();
    for (let i = 0; i < 15; i++) await api.call('jobs.submit', { wallet, job: `j${i}`, queue, price: 1 });
    const jobs = (await Promise.all(polls)).flatMap((answer) => answer.jobs.map((one: Json) => one.job.id));
    expect(jobs.sort()).toEqual(Array.from({ length: 15 }, (_, i) => `j${i}`).sort());
  });

  test('ends when its client goes; the next job is not taken for nobody', async () => {
    const wallet = await api.wallet();
    const queue = newId('q');
    const poll = open(api.service, 'POST', `/v1/queues/${queue}/leases`, '{"waitMs":60000}');
    await waiting();
    poll.cut();
    await idle();
    await api.call('jobs.submit', { wallet, job: 'j', queue, price: 1 });
    expect((await api.call('jobs.get', { wallet, job: 'j' })).job).toMatchObject({ state: 'queued', attempt: 0 });
  });

  test('a lease whose client went while it was taken is given back: no failure, no refund', async () => {
    const wallet = await api.wallet();
    const queue = newId('q');
    await api.call('jobs.submit', { wallet, job: 'j', queue, price: 1 });
    const holder = await holding(wallet, 'lock table recoup.lease_requests in access exclusive mode');
    const poll = open(api.service, 'POST', `/v1/queues/${queue}/leases`, '{"waitMs":60000}');
    await waiting();
    poll.cut();
    await sleep(100);
    await holder.release();
    await idle();
    const { job } = await api.call('jobs.get', { wallet, job: 'j' });
    expect(job).toMatchObject({ state: 'queued', attempt: 1, failures: 0, releases: 1, refundedAt: null });
  });

  test('an answer that was lost is asked for again with the request id: the same jobs and attempts', async () => {
    const wallet = await api.wallet();
    const queue = newId('q');
    for (const job of ['a', 'b', 'c']) await api.call('jobs.submit', { wallet, job, queue, price: 1 });
    const body = JSON.stringify({ count: 2, requestId: newId('r'), waitMs: 1000 });
    const holder = await holding(wallet, 'lock table recoup.lease_requests in access exclusive mode');
    const lost = open(api.service, 'POST', `/v1/queues/${queue}/leases`, body);
    await waiting();
    lost.cut();
    await sleep(100);
    await holder.release();
    await idle();
    const again = await api.send('POST', `/v1/queues/${queue}/leases`, body);
    expect(again.body.jobs.map((one: Json) => [one.job.id, one.job.attempt])).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    expect(await api.send('POST', `/v1/queues/${queue}/leases`, body)).toMatchObject({ body: again.body });
    expect((await api.call('jobs.get', { wallet, job: 'c' })).job.state).toBe('queued');
  });

  test('only so many wait at once', async () => {
    const polls = Array.from({ length: 20 }, () =>
      open(api.service, 'POST', '/v1/queues/none/leases', '{"waitMs":60000}'),
    );
    await until(async () => (await api.send('GET', '/metrics')).body.includes('recoup_http_waiting 20'));
    const answer = await api.ask('queues.lease', { queue: 'none', waitMs: 60_000 });
    expect(answer).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(answer.headers.get('retry-after')).toBe('1');
    for (const poll of polls) poll.cut();
    await idle();
  });

  /** Holds a lock that a lease needs, so that its client can go in the middle of it. */
  async function holding(_wallet: string, sql: string) {
    let release = () => {};
    const released = new Promise<void>((done) => {
      release = done;
    });
    let locked = () => {};
    const isLocked = new Promise<void>((done) => {
      locked = done;
    });
    const held = other.recoup.transaction(async (_, client) => {
      await client.query(sql);
      locked();
      await released;
    });
    await isLocked;
    return {
      release: async () => {
        release();
        await held;
      },
    };
  }
});

describe('the feed as a stream', () => {
  const stream = (headers: Record<string, string> = {}, query = '') =>
    open(api.service, 'GET', `/v1/feed/stream${query}`, '', headers);

  test('tells what was and what comes, with heartbeats; goes on behind Last-Event-ID without gap or repeat', async () => {
    const wallet = await api.wallet(1);
    const first = stream();
    const read = await reading(first.response);
    expect((await first.response).headers['content-type']).toBe('text/event-stream');
    const ofWallet = ({ events }: Read) =>
      events.filter(({ data }) => data.wallet === wallet).map(({ data }) => data.seq);
    await until(() => ofWallet(read).includes(1));
    for (let i = 2; i <= 6; i++) await api.call('wallets.grant', { wallet, key: `k${i}`, amount: i });
    await until(() => ofWallet(read).length === 6);
    await until(() => read.text.includes(': alive\n\n'));
    first.cut();
    // From every event on: exactly what stood behind it.
    const all = read.events.map(({ id }) => id);
    for (const from of [0, all.length - 3, all.length - 1]) {
      const again = stream({ 'last-event-id': all[from]! });
      const rest = await reading(again.response);
      const expected = all.slice(from + 1);
      await until(() => rest.events.length >= expected.length && rest.text.includes(': alive'));
      expect(rest.events.map(({ id }) => id)).toEqual(expected);
      again.cut();
    }
    const byQuery = stream({}, `?cursor=${all.at(-2)}`);
    const last = await reading(byQuery.response);
    await until(() => last.events.length === 1);
    byQuery.cut();
    expect(last.events[0]).toMatchObject({ id: all.at(-1), event: 'entry', data: { kind: 'entry', wallet, seq: 6 } });
    await idle();
  });

  test('a stream ends after a while, and its client resumes', async () => {
    const service = await Api.replica(api.db, { server: { maxStreamMs: 100 } });
    const read = await reading(open(service, 'GET', `/v1/feed/stream?cursor=${await endOfFeed()}`).response);
    await until(() => read.ended);
    await service.close();
  });

  test('a cursor that is none is refused before the stream begins', async () => {
    const { response } = stream({ 'last-event-id': 'nonsense' });
    expect((await response).statusCode).toBe(400);
  });

  test('a client that reads nothing does not make the server hold everything', async () => {
    const wallet = await api.wallet(1);
    const items = Array.from({ length: 1000 }, (_, i) => ({
      wallet,
      key: `s${i}`,
      amount: 1,
      reason: 'x'.repeat(200),
    }));
    for (let round = 0; round < 10; round++) {
      await api.call('wallets.grantMany', { items: items.map((item) => ({ ...item, key: `${item.key}.${round}` })) });
    }
    const slow = stream();
    (await slow.response).pause();
    const before = process.memoryUsage().rss;
    await sleep(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    slow.cut();
    await idle();
  });
});

async function endOfFeed(): Promise<string | null> {
  let cursor: string | null = null;
  for (;;) {
    const page = await api.service.recoup.feed.read(cursor, 5000);
    if (page.events.length === 0) return cursor;
    cursor = page.cursor;
  }
}

describe('closing', () => {
  test('long polls answer, streams end, running requests finish, new ones are refused', async () => {
    const service = await Api.replica(api.db, { server: { heartbeatMs: 50 } });
    const wallet = await api.wallet();
    const poll = open(service, 'POST', '/v1/queues/closing/leases', '{"waitMs":60000}');
    const feed = open(service, 'GET', `/v1/feed/stream?cursor=${await endOfFeed()}`);
    const read = await reading(feed.response);
    await until(async () => (await (await fetch(`${service.url}/metrics`)).text()).includes('recoup_http_waiting 2'));
    // A submit in the middle, held up by somebody who holds its wallet.
    let release = () => {};
    const held = other.recoup.transaction(async (inside) => {
      await inside.wallets.change(wallet, { overdraftLimit: 1 });
      await new Promise<void>((done) => {
        release = done;
      });
    });
    await sleep(100);
    const submit = fetch(`${service.url}/v1/wallets/${wallet}/jobs/j`, {
      method: 'PUT',
      body: '{"queue":null,"price":1}',
      headers: { 'content-type': 'application/json' },
    });
    await sleep(100);
    const started = performance.now();
    const closing = service.close();
    expect((await poll.response).statusCode).toBe(200);
    await until(() => read.ended);
    expect(performance.now() - started).toBeLessThan(2000);
    release();
    await held;
    expect((await submit).status).toBe(201);
    await closing;
    await expect(fetch(`${service.url}/livez`)).rejects.toThrow();
    expect((await api.call('wallets.balance', { wallet })).booked).toBe(99);
  });
});
