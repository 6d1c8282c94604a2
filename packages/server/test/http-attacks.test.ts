// What an attacker tries over HTTP: ambiguous requests, answers in the wrong place, memory, probes.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import { Api, newId } from './support/api.ts';
import { bytes } from './support/raw.ts';

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
});

const smuggled = (wallet: string) =>
  `PUT /v1/wallets/${wallet} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 16\r\nconnection: close\r\n\r\n{"customer":"x"}`;

describe('requests that two programs read differently', () => {
  const framings = [
    'content-length: 4\r\ntransfer-encoding: chunked',
    'transfer-encoding: chunked\r\ncontent-length: 4',
    'content-length: 0\r\ncontent-length: 4',
    'content-length: 0, 4',
    'content-length: +0',
    'content-length: 0x0',
    'transfer-encoding: xchunked',
    'transfer-encoding: chunked, identity',
    'transfer-encoding : chunked',
    'content-length : 0',
    'transfer-encoding:\u000bchunked',
    'x: y\r\n content-length: 0',
    'x: y\ncontent-length: 0',
  ];

  test.each(framings)('%j is refused, and what stands behind it is no request', async (framing) => {
    const wallet = newId('smuggled');
    const post = `POST /v1/dead-letters/redrive HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`;
    const got = await bytes(api.service.url, `${post}0\r\n\r\n${smuggled(wallet)}`);
    expect(got.match(/HTTP\/1\.1 /g) ?? []).toHaveLength(1);
    expect(got).toMatch(/^HTTP\/1\.1 400 /);
    expect(got).toContain('"field":"request"');
    await api.refused('wallets.balance', 'no_wallet', { wallet });
  });

  test('a host that is missing or given twice is refused as a problem', async () => {
    const twice = await bytes(
      api.service.url,
      'GET /livez HTTP/1.1\r\nhost: localhost\r\nHost: evil.example\r\nconnection: close\r\n\r\n',
    );
    expect(twice).toMatch(/^HTTP\/1\.1 400 /);
    expect(twice).toContain('"field":"host"');
    const missing = await bytes(api.service.url, 'GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n');
    expect(missing).toMatch(/^HTTP\/1\.1 421 /);
    expect(missing).toContain('"code":"wrong_host"');
  });

  test('an expectation and an upgrade that nobody knows are passed over', async () => {
    for (const header of [
      'connection: close\r\nexpect: the-unexpected',
      'connection: close, upgrade\r\nupgrade: h2c',
    ]) {
      const got = await bytes(api.service.url, `GET /nope HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n`);
      expect(got).toContain('"code":"not_found"');
    }
  });

  test('what is broken behind a request is never answered in its place', async () => {
    const queue = newId('q');
    const poll = `POST /v1/queues/${queue}/leases HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{"waitMs":60000}`;
    const waiting = (count: number) =>
      until(async () => (await api.send('GET', '/metrics')).body.includes(`recoup_http_waiting ${count}`));
    expect(await bytes(api.service.url, poll, 'no HTTP at all\r\n\r\n', () => waiting(1))).toBe('');
    await waiting(0);
    const begun = (got: () => string) => until(() => got().includes('retry: 2000'));
    const stream = await bytes(
      api.service.url,
      'GET /v1/feed/stream HTTP/1.1\r\nhost: localhost\r\n\r\n',
      'no HTTP\r\n\r\n',
      begun,
    );
    expect(stream.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    await waiting(0);
  });

  test('answers of any kind name their request and are not kept', async () => {
    const answers = await Promise.all([
      bytes(api.service.url, 'no HTTP\r\n\r\n'),
      bytes(api.service.url, `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`),
      bytes(api.service.url, 'GET /v1/wallets/%zz/balance HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'),
      bytes(api.service.url, 'GET /nope HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'),
    ]);
    for (const answer of answers) {
      const [, id] = /\r\nx-request-id: (\S+)\r\n/.exec(answer) ?? [];
      expect(answer).toContain(`"requestId":"${id}"`);
      expect(answer).toMatch(/\r\ncache-control: no-store\r\n/);
      expect(answer).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/);
    }
  });
});

describe('memory and probes', () => {
  test('bodies of senders who proved nothing never fill the room of the others', async () => {
    const service = await Api.replica(api.db, { server: { maxHeldBytes: 1_000_000, requestTimeoutMs: 3000 } });
    const { port } = new URL(service.url);
    // Each stops before its end: its bytes stay.
    const hook = `POST /v1/webhooks/generic HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 300000\r\n\r\n${'x'.repeat(200_000)}`;
    const stopped = connect(Number(port), '127.0.0.1', () => stopped.write(hook));
    await until(async () => stopped.bytesWritten >= hook.length);
    const send = (path: string, method: string, body: string) =>
      fetch(`${service.url}${path}`, { method, body, headers: { 'content-type': 'application/json' } });
    const second = await until(async () => {
      const answer = await send('/v1/webhooks/generic', 'POST', JSON.stringify({ x: 'x'.repeat(100_000) }));
      return answer.status === 429 ? answer : undefined;
    });
    expect(second.headers.get('retry-after')).toBe('1');
    expect(await second.json()).toMatchObject({ code: 'rate_limited' });
    const note = 'x'.repeat(400_000);
    expect((await send(`/v1/wallets/${newId('w')}`, 'PUT', JSON.stringify({ customer: 'c', note }))).status).toBe(400);
    const wallet = newId('w');
    expect((await send(`/v1/wallets/${wallet}`, 'PUT', '{"customer":"c"}')).status).toBe(201);
    expect(
      (await send(`/v1/wallets/${wallet}`, 'PUT', JSON.stringify({ customer: 'c', note: note.repeat(3) }))).status,
    ).toBe(429);
    // What was refused or answered gives its room back.
    stopped.destroy();
    await until(
      async () =>
        (await send('/v1/webhooks/generic', 'POST', JSON.stringify({ x: 'x'.repeat(100_000) }))).status === 401,
    );
    await service.close();
  });

  test('probes at once cost one look at the database', async () => {
    const before = await sessions();
    const answers = await Promise.all(Array.from({ length: 200 }, () => api.send('GET', '/readyz')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const caller = api.service.recoup.connections().find(({ purpose }) => purpose === 'caller');
    expect(caller!.waiting).toBe(0);
    expect((await sessions()) - before).toBeLessThan(200);
  });

  const sessions = async () =>
    Number(
      (await api.db.query(`select xact_commit::int as n from pg_stat_database where datname = current_database()`))[0]!
        .n,
    );
});
